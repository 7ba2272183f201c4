// Blocking rules produce exactly the pairs that they describe, each pair once, and skip oversized blocks.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lens as schema } from '../../lens/model.ts'
import type { LensRecords } from '../records/records.ts'
import { buildDictionary } from '../text/dictionary.ts'
import { type BlockingRuleReport, forEachLensRulePair } from './lens-rules.ts'

function createRecords(columns: Readonly<Record<string, readonly string[]>>, sources?: readonly number[]): LensRecords {
  const fields = Object.entries(columns).map(([name, values]) => {
    const distinct = [...new Set(values.filter((value) => value !== ''))]
    const codes = Int32Array.from(values, (value) => distinct.indexOf(value))
    return { name, type: 'name' as const, column: { codes, dictionary: buildDictionary(distinct) } }
  })
  const rows = Object.values(columns)[0]?.length ?? 0
  const sourceOf = Int32Array.from(sources ?? Array.from({ length: rows }, () => 0))
  return { rows, sources: sourceOf, names: [...new Set(sourceOf)].map(String), fields, idOf: String, writeId: () => -1 }
}

type CollectedPairs = { pairs: string[]; reports: readonly BlockingRuleReport[]; rules: ReadonlyMap<string, number> }

function collectPairs(records: LensRecords, more: object): CollectedPairs {
  const fields = records.fields.map(({ name, type }) => ({ name, type }))
  const lens = schema.parse({ lens: 'x', version: '1.0.0', entity_type: 'x', fields, ...more })
  const pairs: string[] = []
  const rules = new Map<string, number>()
  const reports =
    forEachLensRulePair(
      lens,
      records,
      () => undefined,
      (a, b, rule) => {
        pairs.push(`${a} ${b}`)
        rules.set(`${a} ${b}`, rule)
      },
    ) ?? []
  return { pairs, reports, rules }
}

const shortText = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 2 })

test('two rules produce the union of their pairs, each pair once, under the first rule that produces it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(shortText, shortText), { minLength: 1, maxLength: 24 }),
      fc.boolean(),
      (rows, isAcross) => {
        const sources = rows.map((_, row) => row % 2)
        const records = createRecords({ one: rows.map(([one]) => one), two: rows.map(([, two]) => two) }, sources)
        const rules = { blocking: [['one', 'two'], 'one:prefix(1)'], link_only: isAcross }
        const expected: string[] = []
        for (const [a, [one]] of rows.entries()) {
          for (const [b, [other]] of rows.entries()) {
            const mayPair = !isAcross || sources[a] !== sources[b]
            if (a < b && mayPair && one !== '' && one.slice(0, 1) === other.slice(0, 1)) expected.push(`${a} ${b}`)
          }
        }
        const { pairs, reports, rules: ruleOf } = collectPairs(records, rules)
        for (const pair of expected) {
          const [left, right] = pair.split(' ').map((row) => rows[Number(row)] ?? ['', ''])
          const isOfFirst = left?.[1] !== '' && left?.[0] === right?.[0] && left?.[1] === right?.[1]
          expect(ruleOf.get(pair)).toBe(isOfFirst ? 1 : 2)
        }
        expect(pairs.toSorted()).toEqual(expected.toSorted())
        expect(reports[1]?.pairs).toBe(expected.length)
      },
    ),
  )
})

describe('an oversized block', () => {
  test('of a million records is skipped at once, and reported with its key', () => {
    const rows = 1_000_000
    const one = Array.from({ length: rows }, (_, row) => (row < rows - 2 ? 'same' : 'other'))
    const { pairs, reports } = collectPairs(createRecords({ one }), { blocking: ['one'] })
    expect(pairs).toEqual([`${rows - 2} ${rows - 1}`])
    expect(reports).toEqual([
      {
        rule: 'one',
        pairs: 1,
        blocks: 1,
        largest: rows - 2,
        left_out: [{ key: 'same', records: rows - 2 }],
        left_out_count: 1,
      },
    ])
  })

  test('does not keep its pairs from a later rule', () => {
    const records = createRecords({ one: ['a', 'a', 'a'], two: ['x', 'x', 'y'] })
    expect(collectPairs(records, { blocking: ['one', 'two'], max_block: 2 }).pairs).toEqual(['0 1'])
  })

  test('need not exist for too many pairs: all blocks together are refused before any pair is produced', () => {
    const one = Array.from({ length: 100_000 }, (_, row) => String(row % 5))
    expect(() => collectPairs(createRecords({ one }), { blocking: ['one'], max_block: 20_000 })).toThrow(
      /more than 250000000 pairs/,
    )
  })
})

test('neighbours in a sorted order are paired within the window, for any order of records', () => {
  const records = createRecords({ one: ['d', 'a', 'c', 'b', ''] })
  const { pairs, reports } = collectPairs(records, { blocking: [{ sorted_neighbourhood: { by: ['one'], window: 2 } }] })
  expect(pairs.toSorted()).toEqual(['0 2', '1 3', '2 3'])
  expect(reports[0]?.pairs).toBe(3)
})

test('the nearest records by words are paired, and a pair of an earlier rule is not repeated', () => {
  const one = ['red apple pie', 'red apple tart', 'blue cheese', 'old blue cheese', 'sofa']
  const { pairs } = collectPairs(createRecords({ one }), {
    blocking: ['one:first_word', { tfidf: { fields: ['one'], k: 1 } }],
  })
  expect(pairs.slice(0, 1)).toEqual(['0 1'])
  expect(pairs.toSorted()).toEqual(['0 1', '2 3'])
})

test('a rule on a field that the data lacks is reported; if all rules lack fields, it is a fault', () => {
  const records = createRecords({ one: ['a', 'a'] })
  const fields = [
    { name: 'one', type: 'name' },
    { name: 'two', type: 'name', optional: true },
  ]
  expect(collectPairs(records, { fields, blocking: ['one', 'two'] }).reports[1]?.rule).toBe(
    'not used, the data has no two',
  )
  expect(() => collectPairs(records, { fields, blocking: ['two'] })).toThrow(/no blocking rule has all its fields/)
})
