// Chooses the pairs whose labels say most about a result: from strata of scores, most from those in which what is known so
// far is least certain.
import type { Lens } from '../../lens/model.ts'
import type { EngineProgressListener } from '../progress.ts'
import { createRandom } from '../random.ts'
import type { LensRecords } from '../records/records.ts'
import { type DetailedResolution, resolveRecords } from '../resolve.ts'
import { logistic } from '../score/model.ts'
import { findLabelEvidence, findPairs, type LabelledRecords } from './known-labels.ts'
import { createLabelScale } from './label-scale.ts'
import { createStratumFinder, listDecisivePairs, stratum_count } from './label-strata.ts'
import { fitWeightShift } from './move-weights.ts'

/** A pair to ask about: its rows, its place among the compared pairs, and the probability of a match as known so far. */
export type ChosenPair = { readonly a: number; readonly b: number; readonly pair: number; readonly probability: number }

/** Two rows that are not shown again. */
export type ShownPair = { readonly a: number; readonly b: number }

export type PairChooser = {
  readonly resolution: DetailedResolution
  /** Chooses up to `count` pairs by the labels so far. `shown`: pairs that got any answer, or none of use. Deterministic. */
  choose(labels: readonly LabelledRecords[], shown: readonly ShownPair[], count: number): ChosenPair[]
}

/** A model is never surer than this of a stratum of which it has no label. */
const max_certainty = 0.98
/** Part of the questions that goes to strata by their distance from the cut, regardless of the labels. */
const fixed_share = 0.5
/** Standard deviation of a label in the middle of each stratum, if scores are right; at least .1, so that none stays unknown. */
const stratum_deviations: readonly number[] = [0.1, 0.1, 0.29, 0.44, 0.5, 0.44, 0.29, 0.1, 0.1]

/** Creates a chooser for the records; resolves them once. Throws `LensFault`. */
export function createPairChooser(
  lens: Lens,
  records: LensRecords,
  seed: number,
  report: EngineProgressListener,
): PairChooser {
  const resolution = resolveRecords(lens, records, seed, report)
  const { comparer, compared } = resolution
  const scale = createLabelScale(lens, resolution)
  const stratumOf = createStratumFinder(resolution)
  const decisive = listDecisivePairs(records, resolution)
  const valuesOf = createValueReader(records)
  const judge = (labels: readonly LabelledRecords[]) => {
    if (labels.length === 0) return scale.evidence.map((score) => score - scale.evidence_cut)
    const { patterns, known } = findLabelEvidence(resolution, scale, labels)
    return scale.move(fitWeightShift(comparer, patterns, scale.numbers.weights, known)).scores
  }
  return {
    resolution,
    choose(labels, shown, count) {
      const scores = judge(labels)
      const pool = new Set([...decisive, ...listDecisivePairs(records, { ...resolution, scores })])
      const strata = divideIntoStrata(pool, stratumOf, (pair) => logistic(scores[pair]!))
      for (const pair of findPairs(records.rows, compared, shown)) if (pair >= 0) strata[stratumOf(pair)]!.shown++
      const random = createRandom(seed + shown.length)
      const seen = new Set(shown.map(({ a, b }) => valuesOf(a, b)))
      const chosen: ChosenPair[] = []
      while (chosen.length < count) {
        const stratum = findNeediest(strata, shown.length + chosen.length + 1)
        if (!stratum) break
        const pair = takeAtRandom(stratum.pairs, random)
        const [a, b] = [compared.lefts[pair]!, compared.rights[pair]!]
        const values = valuesOf(a, b)
        if (seen.has(values)) continue
        seen.add(values)
        stratum.shown++
        chosen.push({ a, b, pair, probability: logistic(scores[pair]!) })
      }
      return chosen
    },
  }
}

/** `share`: part of all questions that the stratum should have. */
type Stratum = { readonly pairs: number[]; readonly share: number; shown: number }

/**
 * Divides pairs. Half of the questions goes to strata near the cut, whose labels move it, and half by size and uncertainty,
 * which makes estimates from strata most certain (Neyman, "On the Two Different Aspects of the Representative Method", 1934).
 */
function divideIntoStrata(
  pool: Iterable<number>,
  stratumOf: (pair: number) => number,
  probabilityOf: (pair: number) => number,
): Stratum[] {
  const groups = Array.from({ length: stratum_count }, () => ({ pairs: [] as number[], matches: 0 }))
  for (const pair of pool) {
    const group = groups[stratumOf(pair)]!
    group.pairs.push(pair)
    group.matches += probabilityOf(pair)
  }
  const needs = groups.map(({ pairs, matches }) => {
    if (pairs.length === 0) return 0
    const share = Math.min(max_certainty, Math.max(1 - max_certainty, matches / pairs.length))
    return pairs.length * Math.sqrt(share * (1 - share))
  })
  const all = needs.reduce((sum, need) => sum + need, 0)
  const fixed = groups.map(({ pairs }, at) => (pairs.length === 0 ? 0 : stratum_deviations[at]!))
  const allFixed = fixed.reduce((sum, part) => sum + part, 0)
  return groups.map(({ pairs }, at) => {
    const share = (fixed_share * fixed[at]!) / allFixed + ((1 - fixed_share) * needs[at]!) / all
    return { pairs, share: pairs.length === 0 ? 0 : share, shown: 0 }
  })
}

/** The stratum with the fewest questions beside its share, if any has pairs left. */
function findNeediest(strata: readonly Stratum[], questions: number): Stratum | undefined {
  const open = strata.filter(({ pairs }) => pairs.length > 0)
  const lackOf = ({ share, shown }: Stratum) => share * questions - shown
  return open.reduce<Stratum | undefined>(
    (best, next) => (best && lackOf(best) >= lackOf(next) ? best : next),
    undefined,
  )
}

function takeAtRandom(pairs: number[], random: () => number): number {
  const at = Math.floor(random() * pairs.length)
  const pair = pairs[at]!
  pairs[at] = pairs.at(-1)!
  pairs.pop()
  return pair
}

/** Returns a function that names the values of two rows, in either order, so that equal values are asked about once. */
function createValueReader({ fields }: LensRecords): (a: number, b: number) => string {
  const valuesOf = (row: number) => fields.map(({ column }) => column.codes[row]).join(' ')
  return (a, b) => [valuesOf(a), valuesOf(b)].sort().join('|')
}
