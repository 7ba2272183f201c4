// Finds rows of a landed dataset by the value of a column.
import { join } from 'node:path'
import { openBlocks } from '../../../adapters/platform/data-file/data-kinds.ts'
import { usualLimits } from '../../kernel/data/read-options.ts'
import { missingColumns, withDataFile } from '../resolve/data-file.ts'
import { digestDataFile } from '../resolve/folder/run-inputs.ts'
import { type DescribedDataset, damagedFile } from './described-dataset.ts'

const limits = { ...usualLimits, rows: 2_000_000_000 }

/** Numbers of the rows, from 1; the first `max_rows` and one more. `value`: as the column has it in text. Throws `OfflineCommandError`: 1 for a column that is not there, 5 where the data is not what landed. */
export async function findRows(
  { folder, content }: DescribedDataset,
  { column, value }: { readonly column: string; readonly value: string },
  max_rows: number,
): Promise<number[]> {
  const names = content.columns.map(({ name }) => name)
  if (!names.includes(column)) throw missingColumns(folder, [column], names)
  for (const { name, sha256 } of content.files) {
    const path = join(folder, name)
    if ((await digestDataFile(path, () => undefined)).sha256 !== sha256) throw damagedFile(path)
  }
  const wanted = Buffer.from(value)
  return await withDataFile(folder, async (file) => {
    const found: number[] = []
    let before = 0
    const options = { limits, isSelected: (name: string) => name === column }
    for await (const block of await openBlocks(file, { kind: 'dataset' }, options, () => undefined)) {
      const values = block.columns.find(({ name }) => name === column)
      for (let row = 0; values && row < block.rows && found.length <= max_rows; row++) {
        const [start = -1, end = -1] = [values.starts[row], values.ends[row]]
        if (start < 0 || end - start !== wanted.length) continue
        if (wanted.equals(values.bytes.subarray(start, end))) found.push(before + row + 1)
      }
      before += block.rows
    }
    return found
  })
}
