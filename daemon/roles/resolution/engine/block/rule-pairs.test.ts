// Agreement rules pair rows that agree in all fields of a rule, each pair once, and skip oversized blocks.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RowTable } from '../compare/row-table.ts'
import { createRandom } from '../random.ts'
import { chooseRules } from './rule-choice.ts'
import { type AgreementRule, forEachRulePair } from './rule-pairs.ts'

const [rows, width] = [14, 3]

function createTable(values: readonly number[]): RowTable {
  return { rows: values.length / width, width, values: Int32Array.from(values) }
}

function listPairs(table: RowTable, rules: readonly AgreementRule[], cap: number): string[] {
  const pairs: string[] = []
  forEachRulePair(table, rules, cap, (a, b) => pairs.push(`${a} ${b}`))
  return pairs
}

const rules: readonly AgreementRule[] = [[0], [1, 2], [0, 2]]

test('a pair is visited once, if and only if a block within the limit contains both', () => {
  const arbitraryValues = fc.array(fc.integer({ min: -1, max: 2 }), {
    minLength: rows * width,
    maxLength: rows * width,
  })
  fc.assert(
    fc.property(arbitraryValues, fc.integer({ min: 2, max: 8 }), (values, cap) => {
      const valueIn = (row: number, field: number) => values[row * width + field] ?? -1
      const all = Array.from({ length: rows }, (_, row) => row)
      const agree = (rule: AgreementRule, a: number, b: number) =>
        rule.every((field) => valueIn(a, field) >= 0 && valueIn(a, field) === valueIn(b, field))
      const isIn = (a: number, b: number) =>
        rules.some((rule) => agree(rule, a, b) && all.filter((row) => agree(rule, a, row)).length <= cap)
      const expected = all.flatMap((a) => all.filter((b) => b > a && isIn(a, b)).map((b) => `${a} ${b}`))
      expect(listPairs(createTable(values), rules, cap).sort()).toEqual(expected.sort())
    }),
    { numRuns: 300 },
  )
})

test('reports the processed rows of every rule, and ends when the listener throws', () => {
  const many = 5_000
  const table = createTable(Array.from({ length: many * width }, (_, at) => Math.trunc(at / width / 5)))
  const reports: number[] = []
  forEachRulePair(
    table,
    rules,
    10,
    () => {},
    (done) => reports.push(done),
  )
  expect(reports).toEqual([...reports].sort((a, b) => a - b))
  expect(reports.filter((done) => done < many).length).toBeGreaterThan(3)
  expect(reports.at(-1)).toBe(rules.length * many)
  const end = () => {
    throw new Error('cancelled')
  }
  expect(() => forEachRulePair(table, rules, 10, () => {}, end)).toThrow('cancelled')
})

test('a very large block is skipped at once', () => {
  const many = 200_000
  const table = { rows: many, width: 1, values: new Int32Array(many) }
  expect(listPairs(table, [[0]], 10)).toEqual([])
})

test('chosen rules find twins and few others; a field that most rows share is not chosen alone', () => {
  const people = 20_000
  const random = createRandom(5)
  const values: number[] = []
  for (let person = 0; person < people; person++) {
    const record = [person, Math.floor(random() * 4), Math.floor(random() * 500), Math.floor(random() * 700)]
    const twin = [random() < 0.3 ? people + person : person, record[1] ?? 0, record[2] ?? 0, record[3] ?? 0]
    values.push(...record, ...twin)
  }
  const table = { rows: people * 2, width: 4, values: Int32Array.from(values) }
  const sizes = [0, 1, 2, 3].map((field) => {
    const counts = new Int32Array(people * 2)
    for (let row = 0; row < table.rows; row++) counts[table.values[row * 4 + field] ?? 0]! += 1
    return counts
  })
  const chosen = chooseRules(table, sizes, [1, 1, 1, 1], createRandom(1))
  expect(chosen).not.toContainEqual([1])
  let [twins, others] = [0, 0]
  forEachRulePair(table, chosen, 10, (a, b) => {
    if (a + 1 === b && a % 2 === 0) twins++
    else others++
  })
  expect(twins).toBeGreaterThan(people * 0.95)
  expect(others).toBeLessThan(people * 5)
})
