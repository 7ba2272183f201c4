// Dialects of CSV, records that are left out with their place, and files made to exhaust a reader.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CsvDialect, csvDialect } from '../../../daemon/kernel/data/csv-dialect.ts'
import type { RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { listRows, memorySource } from '../../../test/support/data/memory-source.ts'
import { readCsv } from './read-csv.ts'

/** Rows, and the lines, offsets and reasons of records that were left out. */
async function readTolerantly(content: string | Uint8Array, dialect: Partial<CsvDialect> = {}) {
  const rejects: RejectedRecord[] = []
  const options = {
    limits: usualLimits,
    isSelected: () => true,
    onReject: (record: RejectedRecord) => void rejects.push(record),
  }
  const bytes = Buffer.from(content as string)
  const { rows } = await listRows(readCsv(memorySource(bytes), csvDialect.parse(dialect), options))
  return { rows, rejects: rejects.map(({ place, reason }) => [place.line, place.offset, reason]) }
}

describe('dialects', () => {
  test.each<[what: string, dialect: Partial<CsvDialect>, text: string, rows: (string | null)[][]]>([
    ['semicolons', { delimiter: ';' }, 'a;b\n1,5;"x;y"\n', [['1,5', 'x;y']]],
    ['bars and apostrophes', { delimiter: '|', quote: "'", escape: "'" }, "a|b\n'it''s'|\"x\"\n", [["it's", '"x"']]],
    ['a backslash as escape', { escape: '\\' }, 'a,b\n"say \\"so\\"","c:\\\\d"\n', [['say "so"', 'c:\\d']]],
    [
      'comments',
      { comment: '#' },
      '# made\na,b\n#1,2\n1,#\n"#",2\n#',
      [
        ['1', '#'],
        ['#', '2'],
      ],
    ],
    [
      'no header',
      { header: false },
      '1,x\n2,\n',
      [
        ['1', 'x'],
        ['2', null],
      ],
    ],
    ['Latin-1', { encoding: 'latin-1' }, '', []],
    [
      'no quotation marks',
      { quote: '' },
      'a,b\n"1,2"\n5",\n',
      [
        ['"1', '2"'],
        ['5"', null],
      ],
    ],
  ])('%s', async (_, dialect, text, rows) => {
    const content = text === '' ? Buffer.from('a\nM\xfcller\n', 'latin1') : text
    expect((await readTolerantly(content, dialect)).rows).toEqual(text === '' ? [['Müller']] : rows)
  })

  test.each<[what: string, text: string, rows: (string | null)[][]]>([
    [
      'carriage returns',
      'a,b\r1,2\r3,4\r',
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [
      'carriage returns, the last one missing',
      'a,b\r1,2\r3,4',
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [
      'carriage returns behind quoted fields',
      '"a","b"\r"1","2"\r"3","4"\r',
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [
      'carriage returns and blank lines',
      'a,b\r\r1,2\r\r\r3,4\r',
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['carriage returns, and line ends in values', '"a\nb",c\r"1\n\r\n",2\r', [['1\n\r\n', '2']]],
    [
      'both together',
      'a,b\r\n1,2\r\n"3",4\r\n',
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ['both together, carriage returns twice', 'a,b\r\r\n"1","2"\r\r\n', [['1', '2']]],
    ['line feeds, and a carriage return in a value', 'a,b\n1\r,2\n', [['1\r', '2']]],
    ['line feeds, and a quoted carriage return in the header', '"a\rb",c\n1,2\n', [['1', '2']]],
  ])('line ends: %s', async (_, text, rows) => {
    expect(await readTolerantly(text)).toEqual({ rows, rejects: [] })
    expect((await readTolerantly(Buffer.from(`\ufeff${text}`, 'utf16le'))).rows).toEqual(rows)
  })

  test('line ends: a comment has the first one', async () => {
    expect((await readTolerantly('# it\'s "made\ra,b\r#1,2\r3,4\r', { comment: '#' })).rows).toEqual([['3', '4']])
  })

  test('line ends of another kind within a file are faults with their line, and no part of a value', async () => {
    expect(await readTolerantly('a,b\r1,2\r3,4\n5,6\r7,8\r')).toEqual({
      rows: [
        ['1', '2'],
        ['7', '8'],
      ],
      rejects: [[3, 8, 'a line feed, in a file whose lines end with carriage returns, in field 2']],
    })
    expect(await readTolerantly('a,b\r\n1,2\r3,4\r\n5,6\r\n')).toEqual({
      rows: [['5', '6']],
      rejects: [[2, 5, 'more than the 2 fields that the first line names']],
    })
  })

  test('line ends: many carriage returns, over any number of windows', async () => {
    const text = `a,b\r${'1,"x\r"\r'.repeat(200_000)}`
    const { rows, rejects } = await readTolerantly(text)
    expect([rows.length, rejects, rows.every(([, b]) => b === 'x\r')]).toEqual([200_000, [], true])
  })

  test('a missing value and an empty text differ', async () => {
    expect((await readTolerantly('a,b\n,""\n"",\n')).rows).toEqual([
      [null, ''],
      ['', null],
    ])
  })

  test.each([
    { delimiter: '"' },
    { delimiter: ';', comment: ';' },
    { escape: ',' },
    { delimiter: '::' },
    { delimiter: 'é' },
    { delimiter: '\n' },
    { quote: 'a' },
    { encoding: 'ebcdic' },
    { colour: 'red' },
  ])('%j is refused', (dialect) => {
    expect(csvDialect.safeParse(dialect).success).toBe(false)
  })

  test('any cells in any dialect are read as written', async () => {
    const dialects = fc.record({
      delimiter: fc.constantFrom(',', ';', '\t', '|'),
      quote: fc.constantFrom('"', "'"),
      isDoubled: fc.boolean(),
      end: fc.constantFrom('\n', '\r\n'),
    })
    const cell = fc.string({
      unit: fc.constantFrom('a', ',', ';', '\t', '|', '"', "'", '\\', '\n', '\r', '漢'),
      maxLength: 6,
    })
    const rows = fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(dialects, rows, async ({ delimiter, quote, isDoubled, end }, table) => {
        const escapeMark = isDoubled ? quote : '\\'
        const marks = isDoubled ? [quote] : ['\\', quote]
        const encodeCell = (text: string) =>
          `${quote}${[...text].map((letter) => (marks.includes(letter) ? `${escapeMark}${letter}` : letter)).join('')}${quote}`
        const lines = ['x', 'y', 'z'].join(delimiter)
        const text = [lines, ...table.map((row) => row.map(encodeCell).join(delimiter))].join(end)
        expect(await readTolerantly(text, { delimiter, quote, escape: escapeMark })).toEqual({
          rows: table,
          rejects: [],
        })
      }),
      { numRuns: 300 },
    )
  })
})

describe('a tolerant reading leaves out', () => {
  test.each<[what: string, bad: string | Buffer, line: number, reason: string]>([
    ['too few fields', '3', 3, '1 fields, and the first line names 2'],
    ['too many fields', '3,4,5', 3, 'more than the 2 fields that the first line names'],
    ['a bare quotation mark', '3,a"b', 3, 'a quotation mark in the middle of field 2'],
    ['text after a quoted field', '"3"x,4', 3, 'text after the closing quotation mark of field 1'],
    ['another encoding', Buffer.from('3,\xfc', 'latin1'), 3, 'bytes that are not UTF-8'],
    ['a NUL byte', '3,\0', 3, 'a NUL byte'],
    ['a fault behind a quoted line end', '"3\n",4,5', 4, 'more than the 2 fields that the first line names'],
  ])('%s alone, with its line and offset', async (_, bad, line, reason) => {
    const text = Buffer.concat([Buffer.from('a,b\n1,é\n'), Buffer.from(bad as string), Buffer.from('\n6,7\n')])
    expect(await readTolerantly(text)).toEqual({
      rows: [
        ['1', 'é'],
        ['6', '7'],
      ],
      rejects: [[line, 9, reason]],
    })
  })

  test('a field that is too long, up to the end of the line on which it is', async () => {
    const text = `a,b\n1,"${'x'.repeat(1_048_577)}\n2,3\n`
    const { rows, rejects } = await readTolerantly(`${text}4,"5"\n`)
    expect(rejects).toEqual([[4, 4, 'text after the closing quotation mark of field 2']])
    expect(rows).toEqual([])
    const huge = await readTolerantly(`a,b\n1,"${'x'.repeat(20_000_000)}\n2,3\n`)
    expect(huge).toEqual({ rows: [['2', '3']], rejects: [[2, 4, 'field 2, "b", has more than 1048576 bytes']] })
  })

  test('an open quotation that nothing closes, and none of the lines behind it', async () => {
    expect(await readTolerantly('a\n1\n"2\n3')).toEqual({
      rows: [['1'], ['3']],
      rejects: [[3, 4, 'the file ends within quotation marks']],
    })
    const wide = 'x'.repeat(1_000)
    const { rows, rejects } = await readTolerantly(`a,b\n1,"${`${wide},y\n`.repeat(20_000)}2,3\n`)
    expect(rows).toHaveLength(20_000)
    expect(rows.at(-1)).toEqual(['2', '3'])
    expect(rejects).toEqual([[2, 4, 'field 2, "b", has more than 1048576 bytes']])
  })

  test('no header: without names nothing can be read', async () => {
    await expect(readTolerantly('a"b,c\n1,2\n')).rejects.toThrow('line 1: a quotation mark in the middle of field 1')
  })
})

describe('a file made to exhaust a reader is read once, which a quadratic reader would not end in days', () => {
  test.each<[what: string, unit: string]>([
    ['an open quotation on every line', '"a\n'],
    ['quotation marks alone', '"'],
    ['quotation marks and line ends', '"\n'],
    ['escaped quotation marks', '"x\\"\n'],
    ['carriage returns behind a quoted field', '""\r'],
    ['an open quotation behind each carriage return', '"a\r'],
    ['delimiters', ','],
    ['line ends', '\n'],
  ])('%s', async (_, unit) => {
    const head = Buffer.from('a,b\n')
    const text = Buffer.alloc(8_000_000, unit)
    const dialect = csvDialect.parse(unit.includes('\\') ? { escape: '\\' } : {})
    let rejects = 0
    const options = { limits: usualLimits, isSelected: (name: string) => name === 'b', onReject: () => void rejects++ }
    let rows = 0
    for await (const block of readCsv(memorySource(Buffer.concat([head, text])), dialect, options)) rows += block.rows
    expect(rows).toBe(0)
    expect(rejects > 0).toBe(unit !== '\n')
  })
})
