// What is written as bytes reads as what was meant, whatever an id holds.
import { expect, test } from 'vitest'
import { Sheet } from '../../daemon/boot/offline/sheet.ts'
import { CsvReader } from '../../daemon/roles/resolution/engine/records/csv.ts'
import type { Records } from '../../daemon/roles/resolution/engine/records/records.ts'

/** What a sheet hands over. */
function written(fill: (sheet: Sheet) => void): Buffer {
  const pieces: Buffer[] = []
  const sheet = new Sheet((bytes) => pieces.push(Buffer.from(bytes)))
  fill(sheet)
  sheet.flush()
  return Buffer.concat(pieces)
}

const odd = ['plain', 'a,b', 'say "so"', 'two\nlines', 'cr\rhere', 'ü-Ω', 'x'.repeat(1_200_000)]
const encoder = new TextEncoder()
const records = {
  rows: odd.length,
  idOf: (row: number) => odd[row] ?? '',
  writeId(row: number, into: Uint8Array, at: number) {
    const bytes = encoder.encode(odd[row])
    if (at + bytes.length > into.length) return -1
    into.set(bytes, at)
    return at + bytes.length
  },
} as unknown as Records

test('every cell comes back, first or later in its line, over many pieces', () => {
  const lines = 60_000
  const bytes = written((sheet) => {
    sheet.texts(['first', 'number', 'second', 'score'])
    for (let line = 0; line < lines; line++) {
      const row = line < odd.length ? line : line % 6
      sheet.id(records, row)
      sheet.whole(line)
      sheet.id(records, (row + 1) % 6)
      sheet.fraction(line % 2 === 0 ? line / 7 : -line / 7)
      sheet.end()
    }
  })
  const reader = new CsvReader({ field_bytes: 2_000_000, rows: 100_000 }, () => true)
  reader.push(bytes)
  const { rows, columns } = reader.finish()
  expect(rows).toBe(lines)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const cell = (column: number, row: number) => {
    const { values, codes } = columns[column] ?? { values: undefined, codes: [] }
    return decoder.decode(values?.bytesOf(codes[row] ?? -1))
  }
  for (let line = 0; line < lines; line++) {
    const row = line < odd.length ? line : line % 6
    expect(cell(0, line)).toBe(odd[row])
    expect(cell(1, line)).toBe(String(line))
    expect(cell(2, line)).toBe(odd[(row + 1) % 6])
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
  const bytes = written((sheet) => {
    sheet.fraction(value)
    sheet.end()
  })
  expect(bytes.toString()).toBe(`${wanted}\n`)
})
