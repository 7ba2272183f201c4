// JSON lines are read as written, for any chunk boundaries.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { listRows, memorySource } from '../../../test/support/data/memory-source.ts'
import { readJsonLines as readBlocks } from './read-json-lines.ts'

const limits = { rows: 50, names: 10, maxFieldBytes: () => 100 }

async function readJsonLines(bytes: Uint8Array, cuts: readonly number[]) {
  const blocks = readBlocks(memorySource(bytes, cuts), '|', { limits, isSelected: () => true })
  const { names, rows } = await listRows(blocks)
  return rows.map((row) => {
    return Object.fromEntries(names.flatMap((name, at) => (typeof row[at] === 'string' ? [[name, row[at]]] : [])))
  })
}

test('any texts are read, under keys in any order', async () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  const record = fc.dictionary(fc.constantFrom('id', 'a', 'ü', '__proto__'), text, { maxKeys: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 6 }), fc.array(fc.nat(300)), async (records, cuts) => {
      const bytes = new TextEncoder().encode(records.map((item) => JSON.stringify(item)).join('\n'))
      const rows = await readJsonLines(
        bytes,
        cuts.filter((cut) => cut <= bytes.length),
      )
      expect(rows).toEqual(records.map((item) => Object.fromEntries(Object.entries(item))))
    }),
    { numRuns: 200 },
  )
})

test('a value that is too long is reported with its key, and an excess record with its line', async () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  await expect(readJsonLines(bytes(`{"id":"${'ü'.repeat(51)}"}\n`), [])).rejects.toThrow(
    'line 1: "id" has more than 100 bytes',
  )
  await expect(readJsonLines(bytes('{"id":1}\n'.repeat(51)), [])).rejects.toThrow('line 51: more than 50 records')
})
