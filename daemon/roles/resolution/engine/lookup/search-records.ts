// Finds the records of an index that have given values in given fields, in the order of their uids.
import type { Lens } from '../../lens/model.ts'
import type { FieldValues } from './keys.ts'
import type { LookupField } from './lookup-field.ts'
import type { LookupIndex } from './lookup-index.ts'
import { normaliseRecord } from './normalise-record.ts'
import { readingStoredValues } from './reform-values.ts'

/** Field to the wanted value; one that ends with `*` is the beginning of a value. */
export type WantedValues = Readonly<Record<string, string>>

export type FoundRecord = { readonly uid: string; readonly values: FieldValues }

export type RecordSearch = {
  /** Fields whose wanted value is nothing in the normal form of the lens; nothing is searched. */
  readonly empty: readonly string[]
  readonly records: readonly FoundRecord[]
}

/** Rows between pauses: about a millisecond. */
const rows_per_pause = 50_000

/** Searches for records after the uid `after`. `pause` lets other work of the thread continue, and may throw. */
export async function searchRecords(
  index: LookupIndex,
  lens: Lens,
  {
    where,
    after,
    limit,
  }: { readonly where: WantedValues; readonly after?: string | undefined; readonly limit: number },
  pause: () => Promise<void>,
): Promise<RecordSearch> {
  const wanted = Object.entries(where).map(([name, text]) => ({ name, ...normaliseWanted(lens, name, text) }))
  const empty = wanted.flatMap(({ name, value }) => (value === undefined ? [name] : []))
  if (empty.length > 0) return { empty, records: [] }
  const conditions: FieldCodes[] = []
  for (const { name, value = '', isPrefix } of wanted) {
    const field = index.fieldOf(name)
    const codes = field && (isPrefix ? await findCodes(field, value, pause) : new Set([field.texts.find(value)]))
    if (!field || !codes) return { empty, records: [] }
    conditions.push({ field, codes })
  }
  const best: number[] = []
  for (let row = 0; row < index.rows; row++) {
    if (row % rows_per_pause === 0) await pause()
    if (!index.isPresent(row) || !conditions.every(({ field, codes }) => hasCode(codes, field.codeOf(row)))) continue
    if (after === undefined || index.uidOf(row) > after) insertRow(index, best, row, limit)
  }
  const records = best.map((row) => {
    const uid = index.uidOf(row)
    return { uid, values: index.valuesOf(uid) ?? {} }
  })
  return { empty, records }
}

type FieldCodes = { readonly field: LookupField; readonly codes: ReadonlySet<number> }

function hasCode(codes: ReadonlySet<number>, code: number): boolean {
  return code >= 0 && codes.has(code)
}

/** Normalises a wanted value as the field does; the names of its columns do not matter. */
export function normaliseWanted(lens: Lens, name: string, text: string) {
  const isPrefix = text.endsWith('*')
  const values = normaliseRecord(readingStoredValues(lens, [name]), { [name]: isPrefix ? text.slice(0, -1) : text })
  return { value: values?.[name], isPrefix }
}

async function findCodes(field: LookupField, start: string, pause: () => Promise<void>): Promise<Set<number>> {
  const codes = new Set<number>()
  for (let code = 0; code < field.texts.size; code++) {
    if (code % rows_per_pause === 0) await pause()
    if (field.texts.textOf(code).startsWith(start)) codes.add(code)
  }
  return codes
}

/** Keeps the first rows in the order of uids. */
function insertRow(index: LookupIndex, best: number[], row: number, limit: number): void {
  const last = best.at(-1)
  if (last !== undefined && best.length === limit && index.isUidBefore(last, row)) return
  let [from, to] = [0, best.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (index.isUidBefore(row, best[middle] ?? 0)) to = middle
    else from = middle + 1
  }
  best.splice(from, 0, row)
  if (best.length > limit) best.pop()
}
