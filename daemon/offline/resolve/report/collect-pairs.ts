// Collects the pairs of a run that a person should look at: those nearest to the cut, on both sides.
import type { ReportPair, ReportRecord } from '../../../roles/resolution/report/report-facts.ts'
import type { FileRun } from '../folder/open-run.ts'
import { createOriginalReader } from '../folder/original-values.ts'
import { explainPair, type RecordRows, weighPairs } from '../folder/pair-scorer.ts'

const max_pairs_of_side = 100

export function collectPairs(run: FileRun): ReportPair[] {
  const { pairs, model, records, sources } = run
  const chosen = chooseDoubtfulPairs(run)
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

export function nameRecord({ records, clusters }: FileRun, row: number): ReportRecord {
  return {
    source: records.names[records.sources[row] ?? 0] ?? '',
    id: records.idOf(row),
    cluster: clusters[row] ?? 0,
  }
}

/** The pairs nearest to the cut, as many above as below it, nearest first. */
function chooseDoubtfulPairs({ pairs, model }: FileRun): number[] {
  const { cut } = model
  const height = (pair: number) => (pairs.scores[pair] ?? 0) - cut
  const byNearness = (one: number, other: number) => Math.abs(height(one)) - Math.abs(height(other)) || one - other
  const all = Array.from({ length: pairs.length }, (_, pair) => pair)
  const above = all.filter((pair) => height(pair) > 0).sort(byNearness)
  const below = all.filter((pair) => height(pair) <= 0).sort(byNearness)
  return [...above.slice(0, max_pairs_of_side), ...below.slice(0, max_pairs_of_side)].sort(byNearness)
}
