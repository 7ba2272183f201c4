// Overlap of evidence between fields: a town implies its postal code, and agreement in both must not count twice.
import { SortedHashes } from '../block/sorted-hashes.ts'
import { drawRows, type RowTable } from '../compare/row-table.ts'

const max_sampled_rows = 30_000
/**
 * Partners that a record may have: pairs of one entity agree in much, and tell nothing about the dependence of fields.
 */
const max_partners = 2
/** Standard errors by which agreement must exceed chance. */
const min_standard_errors = 3

/**
 * For each field, how many times over its evidence is repeated: 1 by itself, plus the degree to which other fields
 * predict it. Equality in `g` predicts `f` by 1 - ln P(f equal | g equal) / ln P(f equal), over pairs of rows of
 * different entities. `sizes`: rows per value of each field.
 */
export function estimateFieldOverlaps(table: RowTable, sizes: readonly Int32Array[], random: () => number): number[] {
  const chances = sizes.map((of) => computeChanceAgreement(of, table.rows))
  // Shuffled, because adjacent rows are often one entity.
  const drawn = drawRows(table.rows, max_sampled_rows, random).sort((a, b) => hashRow(a) - hashRow(b) || a - b)
  const sorted = new SortedHashes(drawn.length)
  const copies = chances.map(() => 1)
  for (const [condition, of] of sizes.entries()) {
    const { pairs, same, equal } = countEqualNeighbours(table, drawn, sorted, condition, of)
    for (const [field, alone] of chances.entries()) {
      if (field === condition || pairs === 0 || alone <= 0 || alone >= 1) continue
      const sure = equal[field]! - max_partners * same - min_standard_errors * Math.sqrt(equal[field]! + 1)
      const together = Math.max(alone, sure / pairs)
      copies[field]! += 1 - Math.log(together) / Math.log(alone)
    }
  }
  return copies
}

/** Probability that two random rows have the same value. */
export function computeChanceAgreement(sizes: Int32Array, rows: number): number {
  let same = 0
  for (const size of sizes) same += size * (size - 1)
  return same / (rows * (rows - 1))
}

/**
 * Counts neighbours among the drawn rows with the same value: how many agree in each field, and how many are one entity
 * if each had one partner.
 */
function countEqualNeighbours(
  { width, values }: RowTable,
  drawn: Int32Array,
  sorted: SortedHashes,
  condition: number,
  sizes: Int32Array,
) {
  sorted.clear()
  for (const row of drawn) if (values[row * width + condition]! >= 0) sorted.add(row, values[row * width + condition]!)
  sorted.sort()
  const equal = new Array<number>(width).fill(0)
  let [pairs, same] = [0, 0]
  sorted.forEachRun((rows, from, to) => {
    pairs += to - from - 1
    same += (to - from - 1) / (sizes[values[rows[from]! * width + condition]!]! - 1)
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
