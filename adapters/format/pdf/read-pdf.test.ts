// The text and the tables of PDF documents, and documents made to exhaust a reader or to run what they carry.
// test/support/data/pdf/report.pdf was written by ReportLab 4, letter.pdf by LibreOffice 7.4.7.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { alterBytes } from '../../../test/support/data/altered-bytes.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import { encodePdf, packContent, pageOf } from '../../../test/support/data/write-pdf.ts'
import { readPdf, readPdfTables } from './read-pdf.ts'

const all: DataReadOptions = { limits: usualLimits, isSelected: () => true }
const fixture = (name: string) => readFileSync(path.join(import.meta.dirname, '../../../test/support/data/pdf', name))
const readText = async (bytes: Uint8Array, options = all) =>
  (await listRows(readPdf(memoryRanges(bytes), options))).rows
const readTables = async (bytes: Uint8Array) =>
  (await listRows(readPdfTables(memoryRanges(bytes), all))).rows.map((row) => row.filter((cell) => cell !== null))

describe('a document', () => {
  test('has a row for each line, with its page, its block and its place', async () => {
    const rows = await readText(fixture('report.pdf'))
    expect(rows[0]).toEqual(['1', '1', '1', 'Report of payments', '213.13', '745.89', '169.02', '18'])
    expect(rows.slice(1, 4).map(([, block]) => block)).toEqual(['2', '2', '2'])
    expect(rows.slice(-2).map(([page, , line, text]) => [page, line, text])).toEqual([
      ['2', '1', 'Second page'],
      ['2', '2', 'No table here.'],
    ])
  })

  test('has the rows of its tables', async () => {
    const rows = await readTables(fixture('report.pdf'))
    expect(rows.slice(0, 3)).toEqual([
      ['1', '1', '1', 'id', 'name', 'amount', 'born'],
      ['1', '1', '2', '0', 'Müller 0', '0.00', '2024-02-01'],
      ['1', '1', '3', '1', 'Müller 1', '1.50', '2024-02-02'],
    ])
    expect(rows).toHaveLength(21)
  })

  test('has both of a program that embeds its fonts', async () => {
    const rows = await readText(fixture('letter.pdf'))
    expect(rows.map((row) => row[3])).toEqual(['city people', 'Köln 1000', 'Łódź 700'])
    expect(await readTables(fixture('letter.pdf'))).toEqual([
      ['2', '1', '1', 'city', 'people'],
      ['2', '1', '2', 'Köln', '1000'],
      ['2', '1', '3', 'Łódź', '700'],
    ])
  })

  test('without text has no row', async () => {
    expect(await readText(encodePdf({ pages: ['0 0 10 10 re f'] }))).toEqual([])
  })

  test('keeps the columns of a table where a cell is empty, and takes two columns of prose for none', async () => {
    const table = pageOf(
      ...([
        [50, 700, 'id'],
        [150, 700, 'name'],
        [300, 700, 'city'],
        [50, 680, '1'],
        [300, 680, 'Bonn'],
        [50, 660, '2'],
        [150, 660, 'Ann'],
      ] as const),
    )
    const { rows } = await listRows(readPdfTables(memoryRanges(encodePdf({ pages: [table] })), all))
    expect(rows.map((row) => row.slice(3, 6))).toEqual([
      ['id', 'name', 'city'],
      ['1', null, 'Bonn'],
      ['2', 'Ann', null],
    ])
    const line = 'words that are as long as half of a page'
    const prose = [0, 15, 30].flatMap((y) => [[30, 700 - y, line] as const, [310, 700 - y, line] as const])
    expect(await readTables(encodePdf({ pages: [pageOf(...prose)] }))).toEqual([])
  })
})

test('scripts, actions, forms and attachments are not run, opened or fetched', async () => {
  const catalog = [
    '/OpenAction << /S /JavaScript /JS (globalThis.process.exit\\(7\\)) >>',
    '/AA << /WC << /S /URI /URI (http://127.0.0.1:9/) >> >>',
    '/Names << /EmbeddedFiles << /Names [(a.exe) << /Type /Filespec /F (a.exe) /EF << /F 6 0 R >> >>] >> >>',
  ].join(' ')
  const bytes = encodePdf({
    pages: [pageOf([50, 700, 'harmless'])],
    catalog,
    more: ['<< /Length 2 >>\nstream\nMZ\nendstream'],
  })
  expect((await readText(bytes)).map((row) => row[3])).toEqual(['harmless'])
})

test('a page that cannot be read is a bad record, and the others are read', async () => {
  const rejects: RejectedRecord[] = []
  const options = { ...all, onReject: (record: RejectedRecord) => void rejects.push(record) }
  const sound = encodePdf({ pages: [pageOf([50, 700, 'one']), pageOf([50, 700, 'two']), pageOf([50, 700, 'three'])] })
  const bytes = Buffer.from(
    sound.toString('latin1').replace('6 0 obj\n<< /Type /Page ', '6 0 obj\n[[ /Type /Page '),
    'latin1',
  )
  const rows = await readText(bytes, options)
  expect(rows.map((row) => row[3])).toContain('one')
  expect(rows.length + rejects.length).toBeGreaterThan(1)
})

describe('is refused:', () => {
  const bomb = () => encodePdf({ pages: [packContent(Buffer.alloc(1_073_741_824, ' '), 2)] })
  const encryption =
    '/Encrypt << /Filter /Standard /V 1 /R 2 /O <0000000000000000000000000000000000000000000000000000000000000000> /U <0000000000000000000000000000000000000000000000000000000000000000> /P -4 >> /ID [<00> <00>]'
  test.each<[what: string, content: () => Uint8Array, fault: string]>([
    ['a text', () => Buffer.from('a,b\n1,2\n'), 'damaged, or not a PDF'],
    ['nothing', () => Buffer.alloc(0), 'damaged, or not a PDF'],
    ['a beginning', () => Buffer.from('%PDF-1.7\n'), 'damaged, or not a PDF'],
    ['a document that is cut', () => fixture('report.pdf').subarray(0, 1_500), 'damaged'],
    [
      'a document with a password',
      () => encodePdf({ pages: [''], trailer: encryption }),
      'encrypted: remove the password',
    ],
    ['a gigabyte in a few kilobytes', bomb, 'it unpacks to more than 268435456 bytes'],
  ])('%s', async (_, content, fault) => {
    const reading = readText(content())
    await expect(reading).rejects.toThrow(DataFault)
    await expect(reading).rejects.toThrow(fault)
  })

  test.each([4_000_000_000, -5, 0.5])('%d pages that are not there', async (count) => {
    const bytes = encodePdf({ pages: [pageOf([50, 700, 'one'])], count })
    const rows = await readText(bytes).catch((error) => error)
    if (rows instanceof Error) expect(rows).toBeInstanceOf(DataFault)
    else expect(rows.length).toBeLessThan(2)
  })

  test('levels of lists without end', async () => {
    const bytes = encodePdf({ pages: ['['.repeat(3_000_000)] })
    const rows = await readText(bytes).catch((error) => error)
    if (rows instanceof Error) expect(rows).toBeInstanceOf(DataFault)
    else expect(rows).toEqual([])
  })
})

test('a document that is damaged anywhere is read or refused, and nothing else', async () => {
  for (const { altered, describe: seed } of alterBytes(fixture('report.pdf'), 12))
    await readText(altered).catch((error) => expect(error, seed).toBeInstanceOf(DataFault))
})
