// Finds rows of a landed dataset by the value of a column.
import { join } from 'node:path'
import { openBlocks } from '../../../adapters/platform/data-file/data-kinds.ts'
import { usualLimits } from '../../kernel/data/read-options.ts'
import { missingColumns, withDataFile } from '../resolve/data-file.ts'
import { digestDataFile } from '../resolve/folder/run-inputs.ts'
import { type DescribedDataset, damagedFile } from './described-dataset.ts'

const limits = { ...usualLimits, rows: 2_000_000_000 }

/**
 * Numbers of the rows with each value, from 1: the first `max_rows` and one more; a value that no row has is absent. Values are as
 * the column has them in text. Throws `OfflineCommandError`: 1 for a column that is not there, 5 where the data is not what landed.
 */
export async function findRows(
  { folder, content }: DescribedDataset,
  column: string,
  values: readonly string[],
  max_rows: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const names = content.columns.map(({ name }) => name)
  if (!names.includes(column)) throw missingColumns(folder, [column], names)
  for (const { name, sha256 } of content.files) {
    const path = join(folder, name)
    if ((await digestDataFile(path, () => undefined)).sha256 !== sha256) throw damagedFile(path)
  }
  // Bytes as text of one character each: a value is decoded only where its length is one that is searched.
  const wanted = new Map(values.map((value) => [Buffer.from(value).toString('latin1'), value]))
  const lengths = new Set([...wanted.keys()].map(({ length }) => length))
  return await withDataFile(folder, async (file) => {
    const found = new Map<string, number[]>()
    let before = 0
    const options = { limits, isSelected: (name: string) => name === column }
    for await (const block of await openBlocks(file, { kind: 'dataset' }, options, () => undefined)) {
      const cells = block.columns.find(({ name }) => name === column)
      for (let row = 0; cells && row < block.rows; row++) {
        const [start = -1, end = -1] = [cells.starts[row], cells.ends[row]]
        if (start < 0 || !lengths.has(end - start)) continue
        const value = wanted.get(Buffer.from(cells.bytes.subarray(start, end)).toString('latin1'))
        if (value === undefined) continue
        const rows = found.get(value) ?? []
        if (rows.length <= max_rows) found.set(value, [...rows, before + row + 1])
      }
      before += block.rows
    }
    return found
  })
}
