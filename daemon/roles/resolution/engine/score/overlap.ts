// Overlap of evidence between fields: a town implies its postal code, so agreement in both must not count twice.
import { SortedHashes } from '../block/sorted-hashes.ts'
import { drawRows, type RowTable } from '../compare/row-table.ts'

const max_sampled_rows = 30_000
/**
 * Number of matches that a record may have: pairs of one entity agree in many fields, and reveal nothing about the
 * dependence of fields.
 */
const max_partners = 2
/** Standard errors by which agreement must exceed chance. */
const min_standard_errors = 3

/**
 * Estimates how often the evidence of each field is repeated: 1 by itself, plus the degree to which other fields
 * predict it. Equality in `g` predicts `f` by 1 - ln P(f equal | g equal) / ln P(f equal), over pairs of rows of
 * different entities. `sizes`: rows per value of each field.
 */
export function estimateFieldOverlaps(table: RowTable, sizes: readonly Int32Array[], random: () => number): number[] {
  const chances = sizes.map((fieldSizes) => computeChanceAgreement(fieldSizes, table.rows))
  // Shuffled, because adjacent rows are often one entity.
  const drawn = drawRows(table.rows, max_sampled_rows, random).sort((a, b) => hashRow(a) - hashRow(b) || a - b)
  const sorted = new SortedHashes(drawn.length)
  const copies = chances.map(() => 1)
  for (const [condition, fieldSizes] of sizes.entries()) {
    const { pairs, same, equal } = countEqualNeighbours(table, drawn, sorted, condition, fieldSizes)
    for (const [field, chance] of chances.entries()) {
      if (field === condition || pairs === 0 || chance <= 0 || chance >= 1) continue
      const significant = equal[field]! - max_partners * same - min_standard_errors * Math.sqrt(equal[field]! + 1)
      const conditional = Math.max(chance, significant / pairs)
      copies[field]! += 1 - Math.log(conditional) / Math.log(chance)
    }
  }
  return copies
}

/** Computes the probability that two random rows have the same value. */
export function computeChanceAgreement(sizes: Int32Array, rows: number): number {
  let same = 0
  for (const size of sizes) same += size * (size - 1)
  return same / (rows * (rows - 1))
}

/**
 * Counts neighbours with the same value among the drawn rows: all pairs, pairs that agree in each field, and expected
 * pairs of one entity if each row had one match.
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
