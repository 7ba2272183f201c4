// The reader accepts RFC 4180 in chunks of any size, and reports the line of a fault.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { usualCsv } from '../../../daemon/kernel/data/csv-dialect.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { listRows, memorySource } from '../../../test/support/data/memory-source.ts'
import { readCsv as readBlocks } from './read-csv.ts'

const limits = { rows: 1_000, names: 50, maxFieldBytes: () => 100 }

/** Missing values as empty texts. */
async function readCsv(bytes: Uint8Array, cuts: readonly number[] = []) {
  const { names, rows } = await listRows(
    readBlocks(memorySource(bytes, cuts), usualCsv, { limits, isSelected: () => true }),
  )
  return { names, rows: rows.map((row) => row.map((cell) => cell ?? '')) }
}

const encodeText = (text: string) => new TextEncoder().encode(text)
const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r\n', ' ', '漢'), maxLength: 6 })
const quoteCell = (text: string) => `"${text.replaceAll('"', '""')}"`

test('rows with few quoted fields are read as written', async () => {
  const plain = fc.string({ unit: fc.constantFrom('a', 'b', 'é', ' ', '漢'), maxLength: 24 })
  const row = fc.tuple(fc.oneof({ weight: 5, arbitrary: plain }, cell), plain, fc.oneof(plain, cell))
  const quoteIfNeeded = (text: string) => (/[",\n\r]/.test(text) ? quoteCell(text) : text)
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 12 }),
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.nat(600)),
      async (table, end, cuts) => {
        const rows = [...table, ...table].map((cells) => [...cells])
        const lines = ['one,two,three', ...rows.map((cells) => cells.map(quoteIfNeeded).join(','))]
        const bytes = encodeText(`${lines.join(end)}${end}${end}`)
        const inside = cuts.filter((cut) => cut <= bytes.length)
        expect(await readCsv(bytes, inside)).toEqual({ names: ['one', 'two', 'three'], rows })
      },
    ),
    { numRuns: 500 },
  )
})

test('rows are read as written for any chunk boundaries', async () => {
  const tables = fc
    .integer({ min: 2, max: 4 })
    .chain((width) =>
      fc
        .array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 8 })
        .map((rows) => ({ width, rows })),
    )
  await fc.assert(
    fc.asyncProperty(
      tables,
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.nat(200)),
      fc.boolean(),
      async ({ width, rows }, end, cuts, hasEnd) => {
        const names = Array.from({ length: width }, (_, at) => `c${at}`)
        const text =
          [names.join(','), ...rows.map((row) => row.map(quoteCell).join(','))].join(end) + (hasEnd ? end : '')
        const bytes = encodeText(text)
        expect(
          await readCsv(
            bytes,
            cuts.filter((cut) => cut <= bytes.length),
          ),
        ).toEqual({ names, rows })
      },
    ),
    { numRuns: 300 },
  )
})

describe('the reader accepts', () => {
  test('plain fields, empty fields, a byte order mark and blank lines', async () => {
    expect(await readCsv(encodeText('\ufeffid,name\r\n1,\r\n\r\n2,b\n'))).toEqual({
      names: ['id', 'name'],
      rows: [
        ['1', ''],
        ['2', 'b'],
      ],
    })
  })

  test('a file with column names only', async () => {
    expect(await readCsv(encodeText('id,name'))).toEqual({ names: ['id', 'name'], rows: [] })
  })
})

describe('the reader reports the line of', () => {
  test.each([
    ['a,b\n1,2\n3\n', /^line 3: 1 fields, and the first line names 2/],
    ['a,b\n1,2,3\n', /^line 2: more than the 2 fields/],
    ['a,b\n"x\ny",1\n2,"3', /^line 4: the file ends within quotation marks/],
    ['a,b\n1,2"3\n', /^line 2: a quotation mark in the middle of field 2/],
    ['a,b\n"1"2,3\n', /^line 2: text after the closing quotation mark of field 1/],
    ['a,a\n', /^line 1: two columns have the name "a"/],
    [`${Array.from({ length: 51 }, (_, at) => `c${at}`).join(',')}\n`, /^line 1: more than 50 columns/],
    ['', /^line 1: the first line must name the columns/],
    [`a\n${'x'.repeat(101)}\n`, /^line 2: field 1, "a", has more than 100 bytes/],
    [`a\n"${'x'.repeat(101)}"\n`, /^line 2: field 1, "a", has more than 100 bytes/],
    [`a\n${'x\n'.repeat(1_001)}`, /^line 1002: more than 1000 records/],
  ])('%j', async (text, fault) => {
    await expect(readCsv(encodeText(text))).rejects.toThrow(fault)
    await expect(readCsv(encodeText(text))).rejects.toThrow(DataFault)
  })

  test('a column name that is not UTF-8', async () => {
    await expect(readCsv(Uint8Array.of(0xff, 10))).rejects.toThrow(/line 1: bytes that are not UTF-8/)
  })
})
