// Collects the pairs of a run that a person should look at, those whose decision would change most first, and the decided ones.
import { createComparedShare } from '../../../roles/resolution/engine/quality/compared-share.ts'
import { type DecidedRows, rankDecisions } from '../../../roles/resolution/engine/quality/rank-decisions.ts'
import type { ReportDecision, ReportPair, ReportRecord } from '../../../roles/resolution/report/report-facts.ts'
import type { FileRun } from '../folder/open-run.ts'
import { createOriginalReader } from '../folder/original-values.ts'
import { explainPair, type RecordRows, weighPairs } from '../folder/pair-scorer.ts'

const max_pairs = 100

/** `decided`: pairs that are not asked about again. */
export function collectPairs(run: FileRun, decided: readonly DecidedRows[]): ReportPair[] {
  const { clusters, pairs, model, records, sources } = run
  const { cut, floor, scale } = model
  const comparedShare = createComparedShare(records)
  const ranked = rankDecisions({ clusters, pairs, cut, floor, scale, comparedShare }, decided, max_pairs)
  const chosen = ranked.map(({ pair }) => pair)
  const rows = chosen.map((pair): RecordRows => [pairs.lefts[pair] ?? 0, pairs.rights[pair] ?? 0])
  const levels = weighPairs(run, rows)
  const original = createOriginalReader(model.lens, records, sources)
  return chosen.map((pair, at) => {
    const [left, right] = rows[at] ?? [0, 0]
    const likeness = model.scale === 'likeness' ? pairs.scores[pair] : undefined
    const { base, per_bit, steps, total } = explainPair(run, [left, right], levels[at] ?? [], likeness)
    return {
      left: nameRecord(run, left),
      right: nameRecord(run, right),
      linked: pairs.linked[pair] === 1,
      score: total,
      base,
      changes: ranked[at]?.changes ?? 1,
      fields: steps.map(({ field, level, bits, frequency_bits, total: sum }, number) => ({
        field,
        left: original(left, number),
        right: original(right, number),
        level,
        weight: bits * per_bit,
        rarity: frequency_bits * per_bit,
        total: sum,
      })),
    }
  })
}

export function collectDecisions(run: FileRun, decided: readonly DecidedRows[]): ReportDecision[] {
  return decided.map(({ a, b, isMatch }) => ({
    left: nameRecord(run, a),
    right: nameRecord(run, b),
    isMatch,
    linked: run.clusters[a] === run.clusters[b],
  }))
}

export function nameRecord({ records, clusters }: FileRun, row: number): ReportRecord {
  return {
    source: records.names[records.sources[row] ?? 0] ?? '',
    id: records.idOf(row),
    cluster: clusters[row] ?? 0,
  }
}
