// Workbooks as Excel and other programs write them, and ones made to exhaust a reader.
import { describe, expect, test } from 'vitest'
import type { RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import { encodeXlsx, sheetOf, type WorkbookSample } from '../../../test/support/data/write-xlsx.ts'
import { writeZip } from '../../../test/support/data/write-zip.ts'
import { listSheets, readXlsx } from './read-xlsx.ts'

const all: DataReadOptions = { limits: usualLimits, isSelected: () => true }
const read = async (sample: WorkbookSample, sheet?: string, options = all) =>
  await listRows(readXlsx(memoryRanges(encodeXlsx(sample)), sheet, options))

/** The value of one cell below a header. */
async function readCell(cell: string, sample: Partial<WorkbookSample> = {}): Promise<string | null | undefined> {
  const sheet = `<row r="1"><c t="inlineStr"><is><t>id</t></is></c><c t="inlineStr"><is><t>v</t></is></c></row><row r="2"><c><v>1</v></c>${cell}</row>`
  return (await read({ sheets: { S: sheet }, ...sample })).rows[0]?.[1]
}

describe('a cell is read as a person typed it', () => {
  test.each<[what: string, cell: string, text: string | null, sample?: Partial<WorkbookSample>]>([
    ['a number', '<c r="B2"><v>12345</v></c>', '12345'],
    ['a decimal', '<c><v>0.1</v></c>', '0.1'],
    ['a decimal with the digits of a double', '<c><v>1.1000000000000001</v></c>', '1.1'],
    ['a large number', '<c><v>1E+15</v></c>', '1000000000000000'],
    ['an identifier of more digits than a double has', '<c><v>12345678901234567</v></c>', '12345678901234567'],
    ['a number of an endless format', '<c s="1"><v>7</v></c>', '7', { formats: ['0'.repeat(1_000)] }],
    ['a formula with its result', '<c><f>1+1</f><v>2</v></c>', '2'],
    ['a formula of an empty text', '<c t="str"><f>""</f><v></v></c>', null],
    ['a percentage', '<c s="1"><v>0.15</v></c>', '0.15', { formats: [9] }],
    ['an amount of a currency', '<c s="1"><v>3.5</v></c>', '3.5', { formats: ['#,##0.00 "€"'] }],
    ['a postal code as text', '<c t="inlineStr"><is><t>01234</t></is></c>', '01234'],
    ['a postal code as a number with zeros', '<c s="1"><v>1234</v></c>', '01234', { formats: ['00000'] }],
    ['a date', '<c s="1"><v>45351</v></c>', '2024-02-29', { formats: [14] }],
    ['a date of a format of its own', '<c s="1"><v>45351</v></c>', '2024-02-29', { formats: ['[$-407]d. mmmm yyyy'] }],
    ['a date and a time', '<c s="1"><v>45351.541666666664</v></c>', '2024-02-29T13:00:00', { formats: [22] }],
    ['a time', '<c s="1"><v>0.5416666666666666</v></c>', '13:00:00', { formats: ['hh:mm'] }],
    ['an amount of hours', '<c s="1"><v>1.5</v></c>', '1.5', { formats: ['[h]:mm'] }],
    ['the first day of 1900', '<c s="1"><v>1</v></c>', '1900-01-01', { formats: [14] }],
    ['the last day before the one that did not exist', '<c s="1"><v>59</v></c>', '1900-02-28', { formats: [14] }],
    ['the first day after it', '<c s="1"><v>61</v></c>', '1900-03-01', { formats: [14] }],
    ['a date before 1900, as LibreOffice has it', '<c s="1"><v>-14608</v></c>', '1860-01-01', { formats: [14] }],
    ['a date of the system of 1904', '<c s="1"><v>43889</v></c>', '2024-02-29', { formats: [14], has1904Dates: true }],
    ['a date beyond the calendar', '<c s="1"><v>99999999</v></c>', '99999999', { formats: [14] }],
    ['a date as ISO 8601', '<c t="d"><v>2024-02-29</v></c>', '2024-02-29'],
    ['a format with letters in texts', '<c s="1"><v>5</v></c>', '5', { formats: ['0 "days"'] }],
    ['true', '<c t="b"><v>1</v></c>', 'true'],
    ['false', '<c t="b"><v>0</v></c>', 'false'],
    ['the text of a formula', '<c t="str"><f>A1</f><v>Müller</v></c>', 'Müller'],
    ['the number of a formula', '<c><f>1+1</f><v>2</v></c>', '2'],
    ['an empty result of a formula', '<c t="str"><f>""</f><v></v></c>', null],
    ['an error', '<c t="e"><v>#N/A</v></c>', null],
    ['a cell with a format alone', '<c s="1"/>', null, { formats: [14] }],
    ['a shared text', '<c t="s"><v>1</v></c>', 'b & <c>', { shared: ['<t>a</t>', '<t>b &amp; &lt;c&gt;</t>'] }],
    [
      'a rich text without its reading',
      '<c t="s"><v>0</v></c>',
      '東京 Tower',
      {
        shared: [
          '<r><rPr><b/></rPr><t>東京</t></r><r><t xml:space="preserve"> Tower</t></r><rPh><t>トウキョウ</t></rPh>',
        ],
      },
    ],
    ['a control character', '<c t="inlineStr"><is><t>a_x000D_b_x005F_x0041_</t></is></c>', 'a\rb_x0041_'],
    ['CDATA', '<c t="inlineStr"><is><t><![CDATA[a<b]]></t></is></c>', 'a<b'],
  ])('%s', async (_, cell, text, sample) => {
    expect(await readCell(cell, sample)).toBe(text)
  })
})

describe('a sheet', () => {
  test('is named by its first row with a value, and skips empty rows', async () => {
    const sheet = sheetOf([[], [null, null], ['id', 'name'], [], ['1', 'a'], [null, null], ['2', null]])
    expect(await read({ sheets: { S: sheet } })).toEqual({
      names: ['id', 'name'],
      rows: [
        ['1', 'a'],
        ['2', null],
      ],
    })
  })

  test('has cells by reference, merged ones in the first cell, and other prefixes of its elements', async () => {
    const sheet =
      '<row><c r="A1" t="str"><v>id</v></c><c r="C1" t="str"><v>name</v></c></row><row r="9"><c r="C9"><v>7</v></c></row>'
    expect(await read({ sheets: { S: sheet } })).toEqual({
      names: ['id', 'column_B', 'name'],
      rows: [[null, null, '7']],
    })
    const prefixed = sheet.replaceAll(/<(\/?)(row|c|v)\b/g, '<$1x:$2')
    const root = `<x xmlns:x="y">${prefixed}</x>`
    expect((await read({ sheets: { S: root } })).rows).toEqual([[null, null, '7']])
  })

  test('is the first one that is seen, or the one that is named', async () => {
    const sample = {
      sheets: { Alt: sheetOf([['x']]), 'K & L': sheetOf([['id'], ['1']]), '1': sheetOf([['y']]) },
      hidden: ['Alt'],
    }
    const file = memoryRanges(encodeXlsx(sample))
    expect(await listSheets(file)).toEqual({ names: ['1', 'Alt', 'K & L'], first: '1' })
    expect((await read(sample, 'K & L')).rows).toEqual([['1']])
    expect((await read(sample, '1')).names).toEqual(['y'])
    expect((await read(sample, '3')).names).toEqual(['id'])
    await expect(read(sample)).rejects.toThrow(
      'the workbook has several sheets, and none is named: 1 "1", 2 "Alt", 3 "K & L"',
    )
    await expect(read(sample, 'Neu')).rejects.toThrow('the workbook has no sheet "Neu"; it has 1 "1", 2 "Alt"')
  })

  test('leaves out bad rows with their numbers, also behind empty ones', async () => {
    const rejects: RejectedRecord[] = []
    const options = { ...all, hasLines: true, onReject: (record: RejectedRecord) => void rejects.push(record) }
    const sheet = sheetOf([['id', 'name'], [], ['1', 'a', 'x'], ['2', 'b'], ['3', 'y'.repeat(1_048_577)], ['4', 'd']])
    const lines: number[] = []
    for await (const block of readXlsx(memoryRanges(encodeXlsx({ sheets: { S: sheet } })), undefined, options))
      lines.push(...(block.lines ?? []))
    expect(lines).toEqual([4, 6])
    expect(rejects.map(({ place, reason }) => [place.line, reason])).toEqual([
      [3, 'a value in column C, and row 1 names 2 columns'],
      [5, '"name" has more than 1048576 bytes'],
    ])
  })

  test('without a value has no columns', async () => {
    await expect(read({ sheets: { S: '' } })).rejects.toThrow('the first row with a value must name the columns')
  })
})

describe('a workbook that is made to exhaust a reader, or to reach other files, is a fault', () => {
  const row = '<row><c t="inlineStr"><is><t>id</t></is></c></row>'
  test.each<[what: string, sample: WorkbookSample, pattern: string]>([
    [
      'a text of megabytes',
      { sheets: { S: `<row><c t="inlineStr"><is><t>${'x'.repeat(9_000_000)}</t></is></c></row>` } },
      'a text of more than',
    ],
    [
      'a text of many parts',
      { sheets: { S: `<row><c t="inlineStr"><is>${`<t>${'x'.repeat(1_000)}</t>`.repeat(9_000)}</is></c></row>` } },
      'a text of more than',
    ],
    ['deep elements', { sheets: { S: '<a>'.repeat(500) } }, 'elements are nested too deeply'],
    [
      'a column that Excel does not have',
      { sheets: { S: '<row><c r="XFE1"><v>1</v></c></row>' } },
      'has a cell "XFE1"',
    ],
    ['a reference that is none', { sheets: { S: '<row><c r="ZZZZZZ9"><v>1</v></c></row>' } }, 'has a cell "ZZZZZZ9"'],
    ['a row that Excel does not have', { sheets: { S: '<row r="1048577"/>' } }, 'row "1048577" follows row 0'],
    ['rows out of order', { sheets: { S: '<row r="5"/><row r="4"/>' } }, 'row "4" follows row 5'],
    [
      'cells out of order',
      { sheets: { S: '<row><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>' } },
      'has a cell "A1"',
    ],
    [
      'a shared text that is not there',
      { sheets: { S: '<row><c t="s"><v>7</v></c></row>' } },
      'the shared text 7 is missing',
    ],
    ['XML that does not end', { sheets: { S: '<row><c>' } }, 'damaged: xl/worksheets/sheet1.xml'],
    [
      'an entity of its own',
      { sheets: { S: '<row><c t="str"><v>&xxe;</v></c></row>' } },
      'damaged: xl/worksheets/sheet1.xml',
    ],
  ])('%s', async (_, sample, pattern) => {
    await expect(read(sample)).rejects.toThrow(pattern)
    await expect(read(sample)).rejects.toBeInstanceOf(DataFault)
  })

  test('a document type, whose entities could name files', async () => {
    const content = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'
    const reading = listRows(readXlsx(memoryRanges(writeZip([{ name: '_rels/.rels', content }])), undefined, all))
    await expect(reading).rejects.toThrow('_rels/.rels: it has a document type')
  })

  test('a hundred megabytes of blanks that are packed into a few kilobytes are not held', async () => {
    const blanks = Buffer.alloc(100_000_000, ' ')
    const sample = { sheets: { S: `${row}<row><c t="inlineStr"><is><t>1</t></is></c></row>` } }
    const parts = encodeXlsx({ ...sample, more: [{ name: 'xl/media/blanks', content: blanks }] })
    expect((await listRows(readXlsx(memoryRanges(parts), undefined, all))).rows).toEqual([['1']])
    const bomb = { sheets: { S: `${row}${blanks.toString('latin1')}` } }
    await expect(read(bomb)).rejects.toThrow('a text of more than')
  })

  test.each<[what: string, bytes: Uint8Array, pattern: string]>([
    [
      'an old workbook',
      Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1),
      'an .xls workbook, or one with a password',
    ],
    ['another archive', writeZip([{ name: 'a.txt', content: 'a' }]), 'a ZIP archive, and not a workbook'],
    ['text', Buffer.from('id,name\n1,a\n'), 'damaged, or not a workbook of Excel'],
    ['nothing', new Uint8Array(0), 'damaged, or not a workbook of Excel'],
  ])('%s', async (_, bytes, pattern) => {
    await expect(listRows(readXlsx(memoryRanges(bytes), undefined, all))).rejects.toThrow(pattern)
  })
})

test('a formula without a result is a bad row, where its column is read', async () => {
  const head = '<row r="1"><c t="inlineStr"><is><t>id</t></is></c><c t="inlineStr"><is><t>v</t></is></c></row>'
  const sheets = {
    S: `${head}<row r="2"><c><v>1</v></c><c><f>A2&amp;"x"</f></c></row><row r="3"><c><v>2</v></c></row>`,
  }
  const rejected: RejectedRecord[] = []
  const { rows } = await read({ sheets }, undefined, { ...all, onReject: (row) => rejected.push(row) })
  expect(rows).toEqual([['2', null]])
  expect(rejected).toMatchObject([{ place: { line: 2 }, reason: expect.stringContaining('"v" is a formula without') }])
  const ids = await read({ sheets }, undefined, { ...all, isSelected: (name) => name === 'id' })
  expect(ids.rows).toHaveLength(2)
})

test('cells that all refer to one long text are handed on before they fill the memory', async () => {
  const shared = [`<t>${'x'.repeat(1_000_000)}</t>`]
  const sheet = `<row r="1"><c t="inlineStr"><is><t>v</t></is></c></row>${'<row><c t="s"><v>0</v></c></row>'.repeat(2_000)}`
  let [rows, largest] = [0, 0]
  for await (const block of readXlsx(memoryRanges(encodeXlsx({ sheets: { S: sheet }, shared })), undefined, all)) {
    rows += block.rows
    largest = Math.max(largest, block.rows)
    if (rows > 200) break
  }
  expect(largest).toBeLessThan(100)
})

test('a changed byte is found by the checksum of its part', async () => {
  const file = encodeXlsx({ sheets: { S: sheetOf([['id'], ['1234567890']]) }, isStored: true })
  const at = Buffer.from(file).indexOf('1234567890')
  file[at] = '2'.charCodeAt(0)
  await expect(listRows(readXlsx(memoryRanges(file), undefined, all))).rejects.toThrow(/checksum/)
})
