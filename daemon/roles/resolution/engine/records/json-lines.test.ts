// JSON lines are read as written, for any chunk boundaries.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonLinesReader } from './json-lines.ts'

const limits = { field_bytes: 100, line_bytes: 400, names: 10, rows: 50 }

function readJsonLines(bytes: Uint8Array, cuts: readonly number[]) {
  const reader = new JsonLinesReader(limits, () => true, '|')
  let from = 0
  for (const end of [...cuts, bytes.length].sort((a, b) => a - b)) {
    reader.push(bytes.slice(from, end))
    from = Math.max(from, end)
  }
  const { rows, columns } = reader.finish()
  const decoder = new TextDecoder()
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      columns.flatMap(({ name, codes, values }) => {
        const code = codes[row] ?? -1
        return code < 0 ? [] : [[name, decoder.decode(values.bytesOf(code))]]
      }),
    ),
  )
}

test('any texts are read, under keys in any order', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  const record = fc.dictionary(fc.constantFrom('id', 'a', 'ü', '__proto__'), text, { maxKeys: 4 })
  fc.assert(
    fc.property(fc.array(record, { maxLength: 6 }), fc.array(fc.nat(300)), (records, cuts) => {
      const bytes = new TextEncoder().encode(records.map((item) => JSON.stringify(item)).join('\n'))
      const rows = readJsonLines(
        bytes,
        cuts.filter((cut) => cut <= bytes.length),
      )
      expect(rows).toEqual(records.map((item) => Object.fromEntries(Object.entries(item))))
    }),
    { numRuns: 200 },
  )
})

test('a value that is too long is reported with its key, and an excess record with its line', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  expect(() => readJsonLines(bytes(`{"id":"${'ü'.repeat(51)}"}\n`), [])).toThrow('line 1: "id" has more than 100 bytes')
  expect(() => readJsonLines(bytes('{"id":1}\n'.repeat(51)), [])).toThrow('line 51: more than 50 records')
})
