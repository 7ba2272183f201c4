// JSON lines are read as written, for any chunk boundaries.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
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

const read = async (text: string, isSelected: (name: string) => boolean = () => true) => {
  const rejects: string[] = []
  const onReject = ({ reason, place }: RejectedRecord) => void rejects.push(`${place.line}: ${reason}`)
  const { rows } = await listRows(readBlocks(memorySource(Buffer.from(text)), '|', { limits, isSelected, onReject }))
  return { rows, rejects }
}

test.each<[line: string, reason: string]>([
  ['{"id":1,"id":2}', 'the name "id" is repeated'],
  ['{"id":1,"\\u0069d":1}', 'the name "id" is repeated'],
  ['{"a":"x:y","__proto__":1,"__proto__":2}', 'the name "__proto__" is repeated'],
  ['{"id":1, "n":{"x":1,"x":2}}', 'the name "x" is repeated'],
  ['{"id":1, "n":[{"x":1,"x":2}]}', 'the name "x" is repeated'],
  ['{"id":"\\ud800"}', '"id" has half a surrogate pair, which is not a character'],
  ['{"id":"a\\udc00b"}', '"id" has half a surrogate pair, which is not a character'],
  ['{"id":["a","\\ud800x"]}', '"id" has half a surrogate pair, which is not a character'],
  ['{"\\ud800":1}', '"\\ud800" has half a surrogate pair, which is not a character'],
])('a line that two readers could read differently is refused with its line and name: %s', async (line, reason) => {
  const { rows, rejects } = await read(`{"id":"good"}\n${line}\n{"id":"also"}\n`)
  expect([rows.map(([id]) => id), rejects]).toEqual([['good', 'also'], [`2: ${reason}`]])
  // Also where the column is not read: the file is in doubt, and another program may read it.
  expect((await read(`{"id":"good"}\n${line}\n`, (name) => name === 'other')).rejects).toEqual([`2: ${reason}`])
})

test('colons, braces and escapes in texts are not members, and whole pairs are characters', async () => {
  const record = { id: '":{"a":1,"a":2}', 'k":"': '\\":', pair: '\ud83d\ude00', list: [':', '"'] }
  const { rows, rejects } = await read(`${JSON.stringify(record)}\n{"id":"\\ud83d\\ude00","pair":"\\\\ud800"}\n`)
  expect(rejects).toEqual([])
  expect(rows[0]).toEqual(['":{"a":1,"a":2}', '\\":', '\ud83d\ude00', ':|"'])
  expect(rows[1]).toEqual(['\ud83d\ude00', null, '\\ud800', null])
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
