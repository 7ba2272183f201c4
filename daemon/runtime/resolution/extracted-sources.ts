// Stores and loads the records that the first phase leaves for the second.
import {
  type PackedColumn,
  type PackedSourceHead,
  packSource,
  unpackSource,
} from '../../roles/resolution/engine/records/packing.ts'
import type { RecordSource } from '../../roles/resolution/engine/records/records.ts'
import { readArrays, writeArrays } from './array-file.ts'

export function writeSources(file: string, sources: readonly RecordSource[]): void {
  const all = sources.map(packSource)
  const heads = all.map(({ head }) => head)
  writeArrays(
    file,
    heads,
    all.flatMap(({ arrays }) => arrays.flat()),
  )
}

export function readSources(file: string): RecordSource[] {
  const { head, arrays } = readArrays(file)
  let at = 0
  return (head as PackedSourceHead[]).map((each) => {
    const own = each.columns.map(
      (_, column) => arrays.slice(at + column * 3, at + column * 3 + 3) as unknown as PackedColumn,
    )
    at += own.length * 3
    return unpackSource(each, own)
  })
}
