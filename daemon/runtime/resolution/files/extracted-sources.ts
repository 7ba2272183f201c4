// Stores and loads the records that the first phase leaves for the second.
import {
  type PackedColumn,
  type PackedSourceHead,
  packSource,
  unpackSource,
} from '../../../roles/resolution/engine/records/packing.ts'
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { readArrays, writeArrays } from './array-file.ts'

export function writeSources(file: string, sources: readonly RecordSource[]): void {
  const packed = sources.map(packSource)
  const heads = packed.map(({ head }) => head)
  writeArrays(
    file,
    heads,
    packed.flatMap(({ arrays }) => arrays.flat()),
  )
}

export function readSources(file: string): RecordSource[] {
  const { head, arrays } = readArrays(file)
  let offset = 0
  return (head as PackedSourceHead[]).map((sourceHead) => {
    const columns = sourceHead.columns.map(
      (_, column) => arrays.slice(offset + column * 3, offset + column * 3 + 3) as unknown as PackedColumn,
    )
    offset += columns.length * 3
    return unpackSource(sourceHead, columns)
  })
}
