// A small Parquet file that claims millions of values is read, or refused, within a bounded memory.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import { afterAll, expect, test } from 'vitest'

/** Of the whole process, of which Node itself takes 80 MB; such a file took 2 GB. */
const max_peak_bytes = 300 * 1_048_576
const rows = 16_000_000

const folder = fs.mkdtempSync(path.join(tmpdir(), 'parquet-memory-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

/** One text in all rows: a dictionary of one value, and runs of references to it. */
function writeRepeatedText(name: string, pageSize: number): string {
  const writer = new ByteWriter()
  parquetWrite({
    writer,
    columnData: [{ name: 'v', data: new Array(rows).fill('one text') }],
    schema: [
      { name: 'root', num_children: 1 },
      { name: 'v', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    ],
    rowGroupSize: rows,
    pageSize,
  })
  const file = path.join(folder, name)
  fs.writeFileSync(file, new Uint8Array(writer.getBuffer()))
  return file
}

function measureRead(file: string): { values: number; fault?: string; peak_bytes: number } {
  const script = path.resolve(import.meta.dirname, '../../../test/support/parquet/measure-read.mjs')
  return JSON.parse(execFileSync(process.execPath, [script, file], { encoding: 'utf8' }))
}

test('a file of some 50 kB with sixteen million values in small pages is read', () => {
  const file = writeRepeatedText('pages.parquet', 60_000)
  expect(fs.statSync(file).size).toBeLessThan(60_000)
  const { values, fault, peak_bytes } = measureRead(file)
  expect([values, fault]).toEqual([rows, undefined])
  expect(peak_bytes).toBeLessThan(max_peak_bytes)
})

test('a file of 200 bytes with sixteen million values in one page is refused', () => {
  const file = writeRepeatedText('page.parquet', 1_000_000_000)
  expect(fs.statSync(file).size).toBeLessThan(1_000)
  const { values, fault, peak_bytes } = measureRead(file)
  expect([values, fault]).toEqual([0, 'column v: a page claims more than the 1048576 values that it may have'])
  expect(peak_bytes).toBeLessThan(max_peak_bytes)
})
