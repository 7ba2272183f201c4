// The columns by which a document is found: the values of its indexed fields, beside its body, in a form that SQLite can order.
import { labelKeyOf, type Scalar, type StoredFields } from '../../../../daemon/kernel/store/store.ts'

/** A column's value. Booleans are one-byte blobs: SQLite has none, and 0 and 1 would come back as numbers. */
export type SqlCell = string | number | Buffer | null

/** Columns that every table has. Declared fields follow them as `f_<field>`. */
export const fixedColumns = ['tenant_id', 'label_key', 'expires_ts'] as const

export function isFixedColumn(field: string): boolean {
  return (fixedColumns as readonly string[]).includes(field)
}

const false_cell = Buffer.of(0)
const true_cell = Buffer.of(1)

/** The cells of a document: the fixed columns, then its fields in the given order; absent and null are NULL. */
export function buildCells(value: StoredFields, fields: readonly string[]): SqlCell[] {
  const cells: SqlCell[] = [value.tenant_id, labelKeyOf(value), value.expires_ts ?? null]
  for (const field of fields) cells.push(toCell((value as Record<string, unknown>)[field]))
  return cells
}

/** @throws TypeError for a value that is not a scalar: such a field cannot be an index. */
export function toCell(value: unknown): SqlCell {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? true_cell : false_cell
  if (value === undefined || value === null) return null
  throw new TypeError('an index field holds a scalar')
}

export function toScalar(cell: SqlCell): Scalar | null {
  return Buffer.isBuffer(cell) ? cell[0] === 1 : cell
}

/** The places of the cells that differ, with their new values: columns left alone cost no index entry. */
export function changedCells(
  before: readonly SqlCell[],
  after: readonly SqlCell[],
): { places: number[]; cells: SqlCell[] } {
  const places: number[] = []
  const cells: SqlCell[] = []
  for (const [place, cell] of after.entries()) {
    if (isSameCell(before[place] ?? null, cell)) continue
    places.push(place)
    cells.push(cell)
  }
  return { places, cells }
}

function isSameCell(one: SqlCell, other: SqlCell): boolean {
  return one === other || (Buffer.isBuffer(one) && Buffer.isBuffer(other) && one.equals(other))
}
