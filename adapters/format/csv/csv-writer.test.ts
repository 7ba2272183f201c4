// Written bytes read back as the values that were meant, with any ids.
import { expect, test } from 'vitest'
import { usualCsv } from '../../../daemon/kernel/data/csv-dialect.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { listRows, memorySource } from '../../../test/support/data/memory-source.ts'
import { CsvWriter } from './csv-writer.ts'
import { readCsv } from './read-csv.ts'

/** The output of a sheet. */
function collectBytes(fill: (sheet: CsvWriter) => void): Buffer {
  const pieces: Buffer[] = []
  const sheet = new CsvWriter((bytes) => pieces.push(Buffer.from(bytes)))
  fill(sheet)
  sheet.flush()
  return Buffer.concat(pieces)
}

const irregularIds = ['plain', 'a,b', 'say "so"', 'two\nlines', 'cr\rhere', 'ü-Ω', 'x'.repeat(1_200_000)]
const encoder = new TextEncoder()
const records = {
  rows: irregularIds.length,
  idOf: (row: number) => irregularIds[row] ?? '',
  writeId(row: number, into: Uint8Array, at: number) {
    const bytes = encoder.encode(irregularIds[row])
    if (at + bytes.length > into.length) return -1
    into.set(bytes, at)
    return at + bytes.length
  },
}

test('every cell comes back, first or later in its line, over many pieces', async () => {
  const lines = 60_000
  const bytes = collectBytes((sheet) => {
    sheet.writeTexts(['first', 'number', 'second', 'score'])
    for (let line = 0; line < lines; line++) {
      const row = line < irregularIds.length ? line : line % 6
      sheet.writeId(records, row)
      sheet.writeInteger(line)
      sheet.writeId(records, (row + 1) % 6)
      sheet.writeFraction(line % 2 === 0 ? line / 7 : -line / 7)
      sheet.endLine()
    }
  })
  const limits = { ...usualLimits, maxFieldBytes: () => 2_000_000 }
  const { rows } = await listRows(readCsv(memorySource(bytes), usualCsv, { limits, isSelected: () => true }))
  expect(rows.length).toBe(lines)
  const cell = (column: number, row: number) => rows[row]?.[column]
  for (let line = 0; line < lines; line++) {
    const row = line < irregularIds.length ? line : line % 6
    expect(cell(0, line)).toBe(irregularIds[row])
    expect(cell(1, line)).toBe(String(line))
    expect(cell(2, line)).toBe(irregularIds[(row + 1) % 6])
    expect(Number(cell(3, line))).toBeCloseTo(line % 2 === 0 ? line / 7 : -line / 7, 3)
  }
})

test.each([
  [0, '0.0000'],
  [-0.00001, '0.0000'],
  [-12.34567, '-12.3457'],
  [0.05, '0.0500'],
  [999_999.99995, '1000000.0000'],
])('%d is written as %s', (value, wanted) => {
  const bytes = collectBytes((sheet) => {
    sheet.writeFraction(value)
    sheet.endLine()
  })
  expect(bytes.toString()).toBe(`${wanted}\n`)
})

test('the writer escapes every text cell', () => {
  const bytes = collectBytes((sheet) => {
    sheet.writeTexts(['=1', '-5', 'a', '=A1,"x"'])
    sheet.writeFraction(-0.5)
    sheet.endLine()
  })
  expect(bytes.toString()).toBe(`'=1,-5,a,"'=A1,""x"""\n-0.5000\n`)
})
