// JSON lines are read as written, for any chunk boundaries.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
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

test('keys that appear late do not make a block of them for all rows before', async () => {
  const keys = Array.from({ length: 4_000 }, (_, key) => [`k${key}`, 1])
  const text = `${'{"a":1}\n'.repeat(600_000)}${JSON.stringify(Object.fromEntries(keys))}\n{"a":2}\n`
  const usual = { limits: usualLimits, isSelected: () => true }
  let rows = 0
  for await (const block of readBlocks(memorySource(Buffer.from(text)), '|', usual)) {
    rows += block.rows
    expect(block.rows * block.columns.length).toBeLessThanOrEqual(2_097_152)
  }
  expect(rows).toBe(600_002)
})
