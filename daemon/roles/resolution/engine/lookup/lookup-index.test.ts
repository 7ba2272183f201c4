// The index against one that searches all records, over histories of records that are added, replaced and removed.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeyPostings } from './key-postings.ts'
import type { FieldValues } from './keys.ts'
import { LookupIndex } from './lookup-index.ts'
import { TextTable } from './text-table.ts'

const max_posting = 6
const keysOf = (values: FieldValues) => Object.entries(values).map(([name, value]) => `${name}:${value.slice(0, 1)}`)

const value = fc.constantFrom('a', 'ab', 'b', 'bä', '\ud800', '日本', 'x'.repeat(300))
const values = fc.record({ given: value, family: value }, { requiredKeys: [] })
const uid = fc.constantFrom(...Array.from({ length: 24 }, (_, at) => `u${at}`))
const step = fc.oneof({ weight: 4, arbitrary: fc.record({ uid, values, isCounted: fc.boolean() }) }, fc.record({ uid }))
type Step = { uid: string; values?: FieldValues; isCounted?: boolean }

/** What the documentation of the index promises, by a search of all records. */
function search(records: ReadonlyMap<string, FieldValues>, wanted: FieldValues, max_candidates: number): string[] {
  const scored = [...records].map(([each, own]) => {
    const shared = keysOf(wanted).filter((key) => keysOf(own).includes(key))
    const evidence = shared.map((key) => {
      const sharing = [...records.values()].filter((other) => keysOf(other).includes(key)).length
      return sharing > max_posting ? 0 : 1 / sharing
    })
    return { uid: each, evidence: evidence.reduce((sum, part) => sum + part, 0) }
  })
  const found = scored.filter(({ evidence }) => evidence > 0)
  found.sort((a, b) => b.evidence - a.evidence || (a.uid < b.uid ? -1 : 1))
  return found.slice(0, max_candidates).map((each) => each.uid)
}

function frequencyTerm(counted: readonly FieldValues[], field: string, text: string): number {
  const counts = new Map<string, number>()
  for (const own of counted) {
    const held = own[field]
    if (held !== undefined) counts.set(held, (counts.get(held) ?? 0) + 1)
  }
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0)
  if (total === 0) return 0
  const squares = [...counts.values()].reduce((sum, each) => sum + each * each, 0)
  const share = (counts.get(text) ?? 0) / total
  return Math.log(squares / total ** 2 / Math.max(share, 2 / Math.max(2, counted.length)))
}

test('after any history it finds and counts as if it had been built from the records of now', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), values, (steps: readonly Step[], wanted) => {
      const index = new LookupIndex({ keysOf, max_posting })
      const records = new Map<string, FieldValues>()
      const counted = new Map<string, FieldValues>()
      for (const each of steps) {
        records.delete(each.uid)
        counted.delete(each.uid)
        if (!each.values) {
          index.remove(each.uid)
          continue
        }
        index.put(each.uid, each.values, each.isCounted)
        records.set(each.uid, each.values)
        if (each.isCounted) counted.set(each.uid, each.values)
      }
      expect(index.size).toBe(records.size)
      expect(index.findCandidates(wanted, 5).map((found) => found.uid)).toEqual(search(records, wanted, 5))
      for (const [each, own] of records) expect(index.valuesOf(each)).toEqual(own)
      for (const [name, text] of Object.entries(wanted))
        expect(index.frequencyTerm(name, text)).toBe(frequencyTerm([...counted.values()], name, text))
      const given = new Set([...counted.values()].flatMap((own) => own.given ?? []))
      expect(new Set(index.sample('given', 100))).toEqual(given)
    }),
  )
})

test('a table of texts keeps every text, its number and its order, through all its growths', () => {
  const table = new TextTable()
  const texts = Array.from({ length: 5_000 }, (_, at) => `${'é日'.repeat(at % 3)}text ${(at * 7_919) % 5_000}`)
  const codes = texts.map((text) => table.add(text))
  expect(codes).toEqual(texts.map((_, at) => at))
  expect(texts.map((text) => table.find(text))).toEqual(codes)
  expect(codes.map((code) => table.textOf(code))).toEqual(texts)
  expect(table.find('text')).toBe(-1)
  for (let at = 1; at < 500; at++) expect(table.isBefore(at, at - 1)).toBe(texts[at]! < texts[at - 1]!)
})

test('rows of a key survive growth of tables and blocks, and removal leaves the others', () => {
  const postings = new KeyPostings()
  const rows = new Int32Array(20_000)
  const read = (key: string) => [...rows.subarray(0, postings.read(key, rows, rows.length))].sort((a, b) => a - b)
  for (let row = 0; row < 20_000; row++) {
    postings.add('every', row)
    postings.add(`own ${row}`, row)
    postings.add(`group ${row % 100}`, row)
  }
  for (let row = 0; row < 20_000; row += 2) {
    postings.remove('every', row)
    postings.remove(`own ${row}`, row)
  }
  expect(read('every')).toEqual(Array.from({ length: 10_000 }, (_, at) => 2 * at + 1))
  expect(postings.read('every', rows, 9_999)).toBe(0)
  expect([read('own 4'), read('own 5')]).toEqual([[], [5]])
  expect(read('group 7')).toEqual(Array.from({ length: 200 }, (_, at) => 100 * at + 7))
  expect(read('none')).toEqual([])
})

test('a record takes a few hundred bytes', () => {
  const index = new LookupIndex({
    keysOf: (own) => Object.values(own).flatMap((text) => [text, text.slice(0, 4)]),
    max_posting,
  })
  for (let at = 0; at < 10_000; at++)
    index.put(`rec_${String(at).padStart(32, '0')}`, {
      given: `name ${at % 500}`,
      family: `family ${at}`,
      born: `${at % 9_000}`,
    })
  expect(index.bytes / index.size).toBeLessThan(300)
})
