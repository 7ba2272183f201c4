// JSON documents: the items of the list that a pointer names, wherever reads end; what is not a document, or has no such list, is a fault.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DataFault, type RejectedRecord } from '../../../daemon/kernel/data/data-fault.ts'
import { usualLimits } from '../../../daemon/kernel/data/read-options.ts'
import { listRows, memorySource } from '../../../test/support/data/memory-source.ts'
import { findLists, readJson } from './read-json.ts'

const all = { limits: usualLimits, isSelected: () => true }
const read = (text: string, pointer = '', cuts: readonly number[] = []) =>
  listRows(readJson(memorySource(Buffer.from(text), cuts), pointer, '|', all))

describe('the items of a list are records', () => {
  test.each<[string, string, string, (string | null)[][]]>([
    ['the document itself', '[{"a": 1}, {"a": "x"}]', '', [['1'], ['x']]],
    ['a member', '{"n": 2, "data": [{"a": 1},\n{"a": 2}\n], "more": [1]}', '/data', [['1'], ['2']]],
    ['in an item of a list', '[[{"a": 1}], [{"a": 2}]]', '/1', [['2']]],
    ['a name with marks', '{"a/b~c": {"ü\\"": [{"a": 1}]}}', '/a~1b~0c/ü"', [['1']]],
    ['over several lines', '[\n  {\n    "a": [1,\n 2]\n  }\n]\n', '', [['1|2']]],
    ['marks within texts', '[{"a": "],}{[\\"\\\\"}, {"a": "\\n"}]', '', [['],}{["\\'], ['\n']]],
    ['empty', '{"data": []}', '/data', []],
  ])('%s', async (_, text, pointer, rows) => {
    for (let cut = 0; cut <= text.length; cut++) expect((await read(text, pointer, [cut])).rows).toEqual(rows)
  })

  test('whatever they are, and wherever reads end', async () => {
    const record = fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(fc.string(), fc.integer().map(String)), {
      minKeys: 1,
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(record),
        fc.array(fc.nat(400)),
        fc.constantFrom(undefined, 1),
        async (records, cuts, space) => {
          const { names, rows } = await read(
            JSON.stringify({ skipped: [[{}]], list: records }, undefined, space),
            '/list',
            cuts,
          )
          const expected = records.map((each) => names.map((name) => each[name] ?? null))
          expect(rows).toEqual(expected)
        },
      ),
    )
  })
})

test.each([
  ['text', 'a,b\n1,2\n', 'something follows the end of the document'],
  ['marks', '<html>', 'a value is missing'],
  ['a list that does not end', '[{"a": 1}', 'it ends too early'],
  ['a text that does not end', '[{"a": "1', 'it ends too early'],
  ['something behind it', '[{"a": 1}] 2', 'something follows the end of the document'],
  ['a lacking comma', '{"a": 1 "b": 2}', 'a comma, a bracket or a brace is missing'],
  ['a lacking colon', '{"a" 1}', 'a colon is missing'],
  ['another bracket', '[{"a": 1]]', 'a comma, a bracket or a brace is missing'],
  ['no list', '{"a": 1}', 'the document has no list at its top'],
  ['nothing', '', 'it ends too early'],
  ['a million levels', '['.repeat(1_000_000), 'nested deeper than 256 levels'],
])('%s is a fault', async (_, text, reason) => {
  const fault = await read(text).catch((error: unknown) => error)
  expect(fault).toBeInstanceOf(DataFault)
  expect((fault as DataFault).message).toContain(reason)
})

test('an item that is not an object is left out with its number', async () => {
  const rejects: string[] = []
  const onReject = ({ reason, place }: RejectedRecord) => void rejects.push(`${place.line}: ${reason}`)
  const text = '[{"a": 1}, 2, {"a": "\n"}, {"a": 1, "a": 2}, {"a": 3}]'
  const { rows } = await listRows(readJson(memorySource(Buffer.from(text)), '', '|', { ...all, onReject }))
  expect(rows).toEqual([['1'], ['3']])
  expect(rejects).toEqual([
    '2: the line is not an object: write each record as a line such as {"id": "1", "name": "Ann"}',
    '3: the line is not JSON',
    '4: the name "a" is repeated',
  ])
})

test.each<[string, string, object]>([
  ['the document itself', '[{"a": [{}]}]', { isLines: false, pointers: [''] }],
  ['one of a document', '{"a": [1], "b": {"c": [{"d": [{}]}, {}]}}', { isLines: false, pointers: ['/b/c'] }],
  ['several', '{"a": [{}], "b": [{}]}', { isLines: false, pointers: ['/a', '/b'] }],
  ['none', '{"a": [1, 2], "b": []}', { isLines: false, pointers: [] }],
  ['JSON lines', '{"a": 1}\n{"a": 2}\n', { isLines: true, pointers: [] }],
])('lists of objects are found: %s', async (_, text, lists) => {
  expect(await findLists(memorySource(Buffer.from(text)))).toEqual(lists)
})
