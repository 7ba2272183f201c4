// Finds the records of an index that share values of some fields, such as an address or a telephone number.
import type { LookupIndex } from './lookup-index.ts'

export type SharedField = { readonly field: string; readonly values: readonly string[] }

export type SharedValue = {
  readonly field: string
  readonly value: string
  /** Records with the value. */
  readonly records: number
  /** Their uids in order; empty where they are more than the limit. */
  readonly uids: readonly string[]
}

type ValueRows = { readonly field: string; readonly value: string; readonly rows: number[]; records: number }

const rows_per_pause = 50_000

/** One pass over the records for all values. A value of more than `max_records` records is reported without them. */
export async function findSharing(
  index: LookupIndex,
  fields: readonly SharedField[],
  max_records: number,
  pause: () => Promise<void>,
): Promise<SharedValue[]> {
  const wanted = fields.flatMap(({ field: name, values }) => {
    const field = index.fieldOf(name)
    if (!field) return []
    const byCode = new Map(
      values.flatMap((value) => {
        const code = field.texts.find(value)
        return code < 0 ? [] : [[code, { field: name, value, rows: [] as number[], records: 0 }] as [number, ValueRows]]
      }),
    )
    return [{ field, byCode }]
  })
  for (let row = 0; row < index.rows; row++) {
    if (row % rows_per_pause === 0) await pause()
    if (!index.isPresent(row)) continue
    for (const { field, byCode } of wanted) {
      const found = byCode.get(field.codeOf(row))
      if (!found) continue
      found.records++
      if (found.records <= max_records) found.rows.push(row)
    }
  }
  return wanted.flatMap(({ byCode }) =>
    [...byCode.values()].map(({ field, value, rows, records }) => {
      const uids = records > max_records ? [] : rows.map((row) => index.uidOf(row)).sort()
      return { field, value, records, uids }
    }),
  )
}
