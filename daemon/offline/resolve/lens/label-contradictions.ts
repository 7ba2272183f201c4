// Finds labels that contradict others: records that are not a match although a chain of matches joins them.
import { DisjointSets } from '../../../roles/resolution/engine/cluster/disjoint-sets.ts'
import type { LabelledRecords } from '../../../roles/resolution/engine/labels/known-labels.ts'
import type { LensRecords } from '../../../roles/resolution/engine/records/records.ts'

/** The first contradiction by the ids of its records, and the number of all. */
export type Contradiction = { readonly id_l: string; readonly id_r: string; readonly count: number }

export function findContradiction(
  pairs: readonly LabelledRecords[],
  { rows, idOf }: LensRecords,
): Contradiction | undefined {
  const groups = new DisjointSets(rows)
  for (const { a, b, isMatch } of pairs) {
    const [left, right] = [groups.find(a), groups.find(b)]
    if (isMatch && left !== right) groups.join(left, right)
  }
  const contrary = pairs.filter(({ a, b, isMatch }) => !isMatch && groups.find(a) === groups.find(b))
  const [first] = contrary
  return first && { id_l: idOf(first.a), id_r: idOf(first.b), count: contrary.length }
}
