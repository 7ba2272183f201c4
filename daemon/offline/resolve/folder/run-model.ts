// The model of a run as a file of its folder: the lens as applied, the weights of its scores, how pairs were found, and
// the distribution of the scores. The same data, lens and seed give the same bytes.
import * as z from 'zod'
import { computePrior } from '../../../roles/resolution/engine/lookup/weights.ts'
import { countScoreBins } from '../../../roles/resolution/engine/quality/score-bins.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'
import type { DetailedResolution } from '../../../roles/resolution/engine/resolve.ts'
import type { MatchWeights } from '../../../roles/resolution/engine/score/match-weights.ts'
import { scoreUnit } from '../../../roles/resolution/engine/score/score-unit.ts'
import { listLevelLabels } from '../../../roles/resolution/lens/field.ts'
import { type Lens, lens as lensSchema } from '../../../roles/resolution/lens/model.ts'

export const run_model_name = 'model.json'
export const run_model_format = 2

const count = z.int().min(0)
const text = z.string().max(4_096)
/** In bits. JSON has no infinity, the weight of a level with probability 0. */
const max_bits = 1_000
const bits = z.number().min(-max_bits).max(max_bits)
/** Fields together. */
const max_score = 100_000
const score = z.number().min(-max_score).max(max_score)

export const runModel = z.strictObject({
  /** 1 had natural log-odds in its file of pairs. */
  format: z.literal(run_model_format),
  lens: lensSchema,
  scale: z.enum(['log_odds', 'likeness']),
  /** Score above which records become one entity, and up to which a pair has no evidence: bits, or likeness. */
  cut: score,
  floor: score,
  /** Absent where scores are a likeness. */
  prior_bits: score.optional(),
  fields: z
    .array(
      z.strictObject({
        name: text,
        /** Whether an equal rare value weighs more than an equal common one. */
        has_frequencies: z.boolean(),
        missing_bits: bits,
        levels: z.array(z.strictObject({ level: text, bits })).max(64),
      }),
    )
    .max(64),
  /** Pairs by the rule that found them first. */
  found_by: z.array(z.strictObject({ rule: text, pairs: count })).max(10_000),
  scores: z.strictObject({
    from: score,
    to: score,
    bins: z.array(z.strictObject({ pairs: count, linked: count, expected: z.number().min(0) })).max(1_000),
  }),
})
export type RunModel = z.infer<typeof runModel>

/** Rules of automatic blocking are all pairs of keys: of so many, only those with pairs are listed. */
const max_idle_rules = 64

/** `weights`: those of the scores. */
export function buildRunModel(
  lens: Lens,
  records: LensRecords,
  resolution: DetailedResolution,
  weights: MatchWeights,
): RunModel {
  const { scale, cut, floor, comparer } = resolution
  const unit = scoreUnit(scale)
  const bins = countScoreBins(records.rows, resolution)
  return {
    format: run_model_format,
    lens,
    scale,
    cut: cut / unit,
    floor: floor / unit,
    ...(scale === 'log_odds' && { prior_bits: computePrior(records, resolution, weights) / Math.LN2 }),
    fields: records.fields.map(({ name }, at) => {
      const field = lens.fields.find((candidate) => candidate.name === name)
      const labels = field ? listLevelLabels(field, comparer.swapped?.[0] === at) : []
      const [missing = 0, ...levels] = weights.outcomes[at] ?? []
      return {
        name,
        has_frequencies: weights.hasFrequencies[at] ?? false,
        missing_bits: toBits(missing),
        levels: levels.map((weight, level) => ({ level: labels[level] ?? `level ${level + 1}`, bits: toBits(weight) })),
      }
    }),
    found_by: countRules(resolution),
    scores: { ...bins, from: bins.from / unit, to: bins.to / unit },
  }
}

/** Weights in natural logs, as the engine reads them. */
export function toMatchWeights({ fields }: RunModel): MatchWeights {
  return {
    outcomes: fields.map(({ missing_bits, levels }) =>
      [missing_bits, ...levels.map((level) => level.bits)].map((each) => each * Math.LN2),
    ),
    hasFrequencies: fields.map(({ has_frequencies }) => has_frequencies),
  }
}

function toBits(weight: number): number {
  return Math.max(-max_bits, Math.min(max_bits, weight / Math.LN2))
}

function countRules({ ruleNames, compared }: DetailedResolution): RunModel['found_by'] {
  const counts = new Array<number>(ruleNames.length).fill(0)
  for (const rule of compared.ruleOf) counts[rule] = (counts[rule] ?? 0) + 1
  const rules = ruleNames.map((rule, at) => ({ rule, pairs: counts[at] ?? 0 }))
  return rules.length <= max_idle_rules ? rules : rules.filter(({ pairs }) => pairs > 0)
}
