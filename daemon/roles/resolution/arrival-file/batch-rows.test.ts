// Batches follow from the records alone: from any first record of a batch on, the same batches come again.
import { expect, test } from 'vitest'
import type { FileRow } from '../arrival-folder/watched-folder.ts'
import { batchRows } from './batch-rows.ts'

async function* rowsOf(ids: readonly string[], text = ''): AsyncGenerator<FileRow> {
  for (const [at, id] of ids.entries()) yield { row: at + 1, record: { id, text } }
}

async function listBatches(ids: readonly string[], first_row = 1, text = ''): Promise<number[][]> {
  const batches: number[][] = []
  for await (const batch of batchRows(rowsOf(ids, text), 'id', first_row)) batches.push(batch.map(({ row }) => row))
  return batches
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => String(at))

test('a batch has 500 records, the last one the rest', async () => {
  const batches = await listBatches(numbered(1_203))
  expect(batches.map((batch) => batch.length)).toEqual([500, 500, 203])
})

test('a batch has a million characters at most, and one record at least', async () => {
  expect((await listBatches(numbered(5), 1, 'x'.repeat(400_000))).map((batch) => batch.length)).toEqual([2, 2, 1])
  expect((await listBatches(numbered(2), 1, 'x'.repeat(2_000_000))).map((batch) => batch.length)).toEqual([1, 1])
})

test('an id that comes again begins a batch; records without one do not', async () => {
  expect(await listBatches(['a', 'b', 'a', 'c', 'c', '', ''])).toEqual([
    [1, 2],
    [3, 4],
    [5, 6, 7],
  ])
})

test('a reading that begins at a batch has the batches that follow', async () => {
  const ids = [...numbered(700), ...numbered(3), 'z', 'z']
  const all = await listBatches(ids)
  for (const [at, batch] of all.entries()) expect(await listBatches(ids, batch[0])).toEqual(all.slice(at))
})

test('no records give no batch', async () => {
  expect(await listBatches([])).toEqual([])
})
