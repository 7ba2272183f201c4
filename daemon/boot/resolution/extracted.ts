// Records as the first phase leaves them for the second.
import { type Head, type Packed, packed, unpacked } from '../../roles/resolution/engine/records/packing.ts'
import type { Source } from '../../roles/resolution/engine/records/records.ts'
import { readArrays, writeArrays } from './durable-file.ts'

export function writeSources(file: string, sources: readonly Source[]): void {
  const all = sources.map(packed)
  const heads = all.map(({ head }) => head)
  writeArrays(
    file,
    heads,
    all.flatMap(({ arrays }) => arrays.flat()),
  )
}

export function readSources(file: string): Source[] {
  const { head, arrays } = readArrays(file)
  let at = 0
  return (head as Head[]).map((each) => {
    const own = each.columns.map((_, column) => arrays.slice(at + column * 3, at + column * 3 + 3) as unknown as Packed)
    at += own.length * 3
    return unpacked(each, own)
  })
}
