// Fields that tell the same: who lives in one town has its postal code too, and that must not count twice.
import { SortedHashes } from '../block/sorted-hashes.ts'
import { drawRows, type RowTable } from '../compare/row-table.ts'

const max_sampled_rows = 30_000
/** Partners that a record may have: pairs of one entity are equal in much, and say nothing of what goes with what. */
const max_partners = 2
/** Standard errors by which more must be equal than chance explains. */
const min_standard_errors = 3

/**
 * For each field how many times over its evidence is told: 1 by itself, and as much more as other fields foretell it. What
 * equality in `g` foretells of `f` is 1 - ln P(f equal | g equal) / ln P(f equal), over pairs of rows of different
 * entities. `sizes`: how many rows have each value of a field.
 */
export function estimateFieldOverlaps(table: RowTable, sizes: readonly Int32Array[], random: () => number): number[] {
  const chances = sizes.map((of) => computeChanceAgreement(of, table.rows))
  // In no order: rows that lie side by side are often one entity.
  const drawn = drawRows(table.rows, max_sampled_rows, random).sort((a, b) => hashRow(a) - hashRow(b) || a - b)
  const sorted = new SortedHashes(drawn.length)
  const copies = chances.map(() => 1)
  for (const [given, of] of sizes.entries()) {
    const { pairs, same, equal } = countEqualNeighbours(table, drawn, sorted, given, of)
    for (const [field, alone] of chances.entries()) {
      if (field === given || pairs === 0 || alone <= 0 || alone >= 1) continue
      const sure = equal[field]! - max_partners * same - min_standard_errors * Math.sqrt(equal[field]! + 1)
      const together = Math.max(alone, sure / pairs)
      copies[field]! += 1 - Math.log(together) / Math.log(alone)
    }
  }
  return copies
}

/** That two rows have the same value. */
export function computeChanceAgreement(sizes: Int32Array, rows: number): number {
  let same = 0
  for (const size of sizes) same += size * (size - 1)
  return same / (rows * (rows - 1))
}

/** Of neighbours among the drawn rows of one value: how many are equal in it and one entity, if each had one partner. */
function countEqualNeighbours(
  { width, values }: RowTable,
  drawn: Int32Array,
  sorted: SortedHashes,
  given: number,
  sizes: Int32Array,
) {
  sorted.clear()
  for (const row of drawn) if (values[row * width + given]! >= 0) sorted.add(row, values[row * width + given]!)
  sorted.sort()
  const equal = new Array<number>(width).fill(0)
  let [pairs, same] = [0, 0]
  sorted.forEachRun((rows, from, to) => {
    pairs += to - from - 1
    same += (to - from - 1) / (sizes[values[rows[from]! * width + given]!]! - 1)
    for (let at = from + 1; at < to; at++) {
      const [a, b] = [rows[at - 1]! * width, rows[at]! * width]
      for (let field = 0; field < width; field++) {
        if (values[a + field]! >= 0 && values[a + field] === values[b + field]) equal[field]!++
      }
    }
  })
  return { pairs, same, equal }
}

function hashRow(row: number): number {
  const hash = Math.imul(row ^ (row >>> 15), 0x9e3779b1)
  return Math.imul(hash ^ (hash >>> 13), 0x85ebca6b)
}
