// Workbooks of Excel 97 to 2003 as programs write them, and ones made to exhaust a reader.
// test/support/data/xls was written by xlwt 1.3.0, and by LibreOffice 7.4.7 from that one.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { alterBytes } from '../../../test/support/data/altered-bytes.ts'
import { listRows, memoryRanges } from '../../../test/support/data/memory-source.ts'
import {
  biffRecord,
  encodeCompound,
  encodeXls,
  encodeXlsStream,
  latinText,
  shorts,
  type XlsSample,
  xlsCell,
} from '../../../test/support/data/write-xls.ts'
import { listXlsSheets, readXls } from './read-xls.ts'

const all: DataReadOptions = { limits: usualLimits, isSelected: () => true }
const readBytes = async (bytes: Uint8Array, sheet?: string, options = all) =>
  await listRows(readXls(memoryRanges(bytes), sheet, options))
const read = async (sample: XlsSample, sheet?: string, options = all) =>
  await readBytes(encodeXls(sample), sheet, options)
const fixture = (name: string) =>
  gunzipSync(readFileSync(path.join(import.meta.dirname, '../../../test/support/data/xls', `${name}.xls.gz`)))
const header = [xlsCell.text(0, 0, 'id'), xlsCell.text(0, 1, 'v')]
const readCell = async (cell: Uint8Array | readonly Uint8Array[], sample: Partial<XlsSample> = {}) => {
  const cells = cell instanceof Uint8Array ? [cell] : cell
  return (await read({ sheets: { S: [...header, xlsCell.number(1, 0, 1), ...cells] }, ...sample })).rows[0]?.[1]
}
const format = (code: string) => [
  biffRecord(0x041e, shorts(164), latinText(code)),
  biffRecord(0x00e0, shorts(0, 0, 0)),
  biffRecord(0x00e0, shorts(0, 164, 0)),
]
const textResult = [0, 0, 0, 0, 0, 0, 0xff, 0xff]

describe.each(['xlwt', 'libreoffice'])('a workbook of %s', (program) => {
  test('has the values that its cells show', async () => {
    const bytes = fixture(program)
    expect(listXlsSheets(memoryRanges(bytes))).toEqual({ names: ['Orders', 'Hidden'], first: 'Orders' })
    const { names, rows } = await readBytes(bytes, 'Orders')
    expect(names).toEqual(['id', 'name', 'born', 'seen', 'zip', 'price', 'share', 'ok', 'note', 'sum'])
    expect(rows).toHaveLength(80)
    const [first, second, third, fourth] = rows
    // xlwt stores no results of formulas.
    const sum = (value: string) => (program === 'xlwt' ? null : value)
    expect(first).toEqual([
      ...['1', '東京 0', '2024-02-29', '2024-02-29T13:00:00', '01234', '0', '0', 'true', 'x0', sum('1')],
    ])
    expect(second?.slice(0, 7)).toEqual(['2', 'Müller 1', '2024-03-01', '2024-02-29T13:00:01', '01235', '1.25', '0.1'])
    expect(second?.[8]).toBe('ä'.repeat(3_000) + '日本'.repeat(3_000))
    expect([third?.[8], third?.[9], fourth?.slice(8)]).toEqual(['bold plain', sum('5.5'), ['merged', null]])
    expect((await readBytes(bytes, 'Hidden')).rows).toEqual([['12345678901']])
  })

  test('that is damaged anywhere is read or refused, and nothing else', async () => {
    let refused = 0
    for (const { altered, describe: seed } of alterBytes(fixture(program), 150))
      await readBytes(altered, '1').catch((error) => {
        expect(error, seed).toBeInstanceOf(DataFault)
        refused++
      })
    expect(refused).toBeGreaterThan(30)
  })
})

describe('a cell is read as a person typed it', () => {
  const numbered = (value: number, code: string) => [xlsCell.number(1, 1, value, 1), code] as const
  test.each<[what: string, cell: Uint8Array | readonly Uint8Array[], text: string | null, sample?: Partial<XlsSample>]>(
    [
      ['a number', xlsCell.number(1, 1, 0.1), '0.1'],
      ['an integer of 30 bits', xlsCell.rk(1, 1, (1234 << 2) | 2), '1234'],
      ['a negative one', xlsCell.rk(1, 1, ((-5 << 2) | 2) >>> 0), '-5'],
      ['hundredths', xlsCell.rk(1, 1, (1234 << 2) | 3), '12.34'],
      ['the upper half of a double', xlsCell.rk(1, 1, 0x3ff8_0000), '1.5'],
      ['numbers side by side', biffRecord(0x00bd, shorts(1, 1, 0, (7 << 2) | 2, 0, 1)), '7'],
      ['a truth value', xlsCell.truth(1, 1, 1), 'true'],
      ['an error', xlsCell.truth(1, 1, 0x2a, 1), null],
      ['a text', xlsCell.text(1, 1, 'Müller'), 'Müller'],
      ['an empty text', xlsCell.text(1, 1, ''), null],
      ['the number of a formula', xlsCell.formula(1, 1, xlsCell.numberResult(2.5)), '2.5'],
      ['the truth of a formula', xlsCell.formula(1, 1, [1, 0, 1, 0, 0, 0, 0xff, 0xff]), 'true'],
      ['the error of a formula', xlsCell.formula(1, 1, [2, 0, 0x07, 0, 0, 0, 0xff, 0xff]), null],
      ['the empty text of a formula', xlsCell.formula(1, 1, [3, 0, 0, 0, 0, 0, 0xff, 0xff]), null],
      ['the text of a formula', [xlsCell.formula(1, 1, textResult), biffRecord(0x0207, latinText('res'))], 'res'],
      [
        'the text of a formula of a group',
        [xlsCell.formula(1, 1, textResult), biffRecord(0x04bc, [1, 2]), biffRecord(0x0207, latinText('res'))],
        'res',
      ],
      ['a date', numbered(45351, 'yyyy\\-mm\\-dd')[0], '2024-02-29', { globals: format('yyyy\\-mm\\-dd') }],
      [
        'a date of the system of 1904',
        numbered(43889, 'd/m/y')[0],
        '2024-02-29',
        { globals: [...format('d/m/y'), biffRecord(0x0022, shorts(1))] },
      ],
      ['a postal code', numbered(1234, '00000')[0], '01234', { globals: format('00000') }],
    ],
  )('%s', async (_, cell, text, sample) => {
    expect(await readCell(cell, sample)).toBe(text)
  })

  test('a chart within the sheet is left out', async () => {
    const chart = [biffRecord(0x0809, shorts(0x0600, 0x20)), xlsCell.number(9, 9, 9), biffRecord(0x000a)]
    expect(await readCell([...chart, xlsCell.number(1, 1, 4)])).toBe('4')
  })

  test('of a workbook of Excel 95, by its code page', async () => {
    const text = (row: number, column: number, bytes: readonly number[]) =>
      biffRecord(0x0204, shorts(row, column, 0, bytes.length), bytes)
    const cells = [text(0, 0, [0x69, 0x64]), text(1, 0, [0xcc, 0xe8, 0xf0])]
    const stream = encodeXlsStream({ isOld: true, globals: [biffRecord(0x0042, shorts(1251))], sheets: { S: cells } })
    expect((await readBytes(encodeCompound(stream, 'Book'))).rows).toEqual([['Мир']])
    const other = encodeXlsStream({ isOld: true, globals: [biffRecord(0x0042, shorts(864))], sheets: { S: cells } })
    await expect(readBytes(encodeCompound(other, 'Book'))).rejects.toThrow('texts of code page 864')
  })
})

test('a row has its number in the sheet as its line, and bad rows are left out by it', async () => {
  const rejects: RejectedRecord[] = []
  const cells = [...header, xlsCell.number(4, 0, 1), xlsCell.number(7, 2, 1), xlsCell.number(9, 1, 2)]
  const options = { ...all, hasLines: true, onReject: (record: RejectedRecord) => void rejects.push(record) }
  const lines: number[] = []
  for await (const block of readXls(memoryRanges(encodeXls({ sheets: { S: cells } })), undefined, options))
    lines.push(...(block.lines ?? []))
  expect(lines).toEqual([5, 10])
  expect(rejects).toEqual([{ reason: 'a value in column C, and row 1 names 2 columns', place: { line: 8, offset: 0 } }])
})

describe('is refused:', () => {
  const sheets = { S: [...header, xlsCell.number(1, 0, 1)] }
  const sound = encodeXls({ sheets })
  const patch = (at: number, value: number) => {
    const bytes = Buffer.from(sound)
    bytes.writeUInt32LE(value, at)
    return bytes
  }
  const sharedTexts = (count: number, ...more: Uint8Array[]) => [
    biffRecord(0x00fc, [0, 0, 0, 0, ...shorts(count & 0xffff, count >>> 16)], ...more),
  ]
  /** The directory lies in the second sector, and its second entry is the workbook. */
  const entry_start = 512 + 512 + 128
  test.each<[what: string, content: () => Uint8Array, fault: string]>([
    ['a text', () => Buffer.from('a,b\n1,2\n'), 'damaged, or not a workbook of Excel (.xls)'],
    ['a workbook of another format', () => Buffer.from('PK\x03\x04'), 'a ZIP archive: name a workbook'],
    ['a workbook of Excel 3', () => Buffer.from([9, 2, 6, 0, 0, 0]), 'a workbook of Excel 4 or before'],
    ['a header that is cut', () => sound.subarray(0, 300), 'it ends within its header'],
    ['a file that is cut', () => sound.subarray(0, 2_000), 'a stream claims to be larger than the file'],
    ['a table of sectors that is not there', () => patch(76, 1_000), 'a sector lies beyond its end'],
    ['sectors of a terabyte', () => patch(30, 0x0006_0028), 'its sectors have no known size'],
    ['a stream of 2 GiB', () => patch(entry_start + 120, 0x7fff_ffff), 'claims to be larger than the file'],
    ['sectors in a circle', () => patch(512 + 4, 1), 'sectors refer to one another'],
    ['a stream of one sector', () => patch(512 + 8, 0xffff_fffe), 'a stream ends too early'],
    ['tables of sectors in a circle', () => patch(68, 0), 'damaged'],
    ['a document', () => encodeCompound(Buffer.alloc(10), 'WordDocument'), 'a document of Office before 2007'],
    ['a workbook with a password', () => encodeCompound(Buffer.alloc(10), 'EncryptedPackage'), 'remove the password'],
    ['an encrypted book', () => encodeXls({ sheets, globals: [biffRecord(0x002f, shorts(1, 1, 1))] }), 'encrypted'],
    ['a book without sheets', () => encodeXls({ sheets: {} }), 'the workbook has no sheet'],
    ['a sheet without values', () => encodeXls({ sheets: { S: [] } }), 'the first row with a value must name'],
    [
      'four billion shared texts',
      () => encodeXls({ sheets, globals: sharedTexts(0xffff_ffff) }),
      'damaged: a text ends too early',
    ],
    [
      'a reading of ideograms of 4 GiB',
      () => encodeXls({ sheets, globals: sharedTexts(1, Buffer.from([1, 0, 4, 0xff, 0xff, 0xff, 0xff, 0x61])) }),
      'damaged: a text ends too early',
    ],
    [
      'a shared text that is not there',
      () => encodeXls({ sheets: { S: [xlsCell.shared(0, 0, 7)] } }),
      'the shared text 7 is missing',
    ],
    ['a column of .xlsx', () => encodeXls({ sheets: { S: [xlsCell.number(0, 700, 1)] } }), 'a cell is in column 701'],
    [
      'rows that go back',
      () => encodeXls({ sheets: { S: [...header, xlsCell.number(5, 0, 1), xlsCell.number(2, 0, 1)] } }),
      'row 3 follows row 6',
    ],
    [
      'a sheet without an end',
      () => encodeXls({ sheets: { S: [...header, biffRecord(0x0809, shorts(0x600, 0x20))] } }),
      'damaged',
    ],
  ])('%s', async (_, content, fault) => {
    const reading = readBytes(content())
    await expect(reading).rejects.toThrow(DataFault)
    await expect(reading).rejects.toThrow(fault)
  })
})

test('a sheet whose cells repeat a long text comes in blocks of few rows', async () => {
  const columns = [...Array(200).keys()]
  const names = columns.map((column) => xlsCell.text(0, column, `c${column}`))
  const cells = [...Array(300).keys()].flatMap((row) => columns.map((column) => xlsCell.shared(row + 1, column, 0)))
  const globals = [biffRecord(0x00fc, [0, 0, 0, 0, 1, 0, 0, 0], latinText('x'.repeat(8_000)))]
  const bytes = encodeXls({ sheets: { S: [...names, ...cells] }, globals })
  let rows = 0
  for await (const block of readXls(memoryRanges(bytes), undefined, all)) {
    expect(block.rows).toBeLessThan(16)
    rows += block.rows
  }
  expect(rows).toBe(300)
})

test('an empty text without flags, as some programs write it, is a missing value', async () => {
  const formula = biffRecord(0x0006, shorts(1, 1, 0), Uint8Array.from(textResult), shorts(0, 0, 0, 0))
  expect(await readCell([formula, biffRecord(0x0207, shorts(0))])).toBeNull()
  expect(await readCell(biffRecord(0x0204, shorts(1, 1, 0, 0)))).toBeNull()
  expect(await readCell(xlsCell.number(1, 1, 5), { globals: [biffRecord(0x041e, shorts(164, 0))] })).toBe('5')
})
