// Rules bring together what agrees in all their fields, each pair once, and no block that is too large.
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
  const found: string[] = []
  forEachRulePair(table, rules, cap, (a, b) => found.push(`${a} ${b}`))
  return found
}

const rules: readonly AgreementRule[] = [[0], [1, 2], [0, 2]]

test('a pair is given once, if and only if a block of at most the cap holds both', () => {
  const values = fc.array(fc.integer({ min: -1, max: 2 }), { minLength: rows * width, maxLength: rows * width })
  fc.assert(
    fc.property(values, fc.integer({ min: 2, max: 8 }), (given, cap) => {
      const valueIn = (row: number, field: number) => given[row * width + field] ?? -1
      const all = Array.from({ length: rows }, (_, row) => row)
      const agree = (rule: AgreementRule, a: number, b: number) =>
        rule.every((field) => valueIn(a, field) >= 0 && valueIn(a, field) === valueIn(b, field))
      const isIn = (a: number, b: number) =>
        rules.some((rule) => agree(rule, a, b) && all.filter((row) => agree(rule, a, row)).length <= cap)
      const wanted = all.flatMap((a) => all.filter((b) => b > a && isIn(a, b)).map((b) => `${a} ${b}`))
      expect(listPairs(createTable(given), rules, cap).sort()).toEqual(wanted.sort())
    }),
    { numRuns: 300 },
  )
})

test('tells how many rows were passed, up to all of them under every rule, and is ended by whoever is told', () => {
  const many = 5_000
  const table = createTable(Array.from({ length: many * width }, (_, at) => Math.trunc(at / width / 5)))
  const told: number[] = []
  forEachRulePair(
    table,
    rules,
    10,
    () => {},
    (done) => told.push(done),
  )
  expect(told).toEqual([...told].sort((a, b) => a - b))
  expect(told.filter((done) => done < many).length).toBeGreaterThan(3)
  expect(told.at(-1)).toBe(rules.length * many)
  const end = () => {
    throw new Error('no longer wanted')
  }
  expect(() => forEachRulePair(table, rules, 10, () => {}, end)).toThrow('no longer wanted')
})

test('a block of very many rows is passed over at once', () => {
  const many = 200_000
  const table = { rows: many, width: 1, values: new Int32Array(many) }
  expect(listPairs(table, [[0]], 10)).toEqual([])
})

test('rules are chosen that find twins and few others; a field that nearly all share is not one by itself', () => {
  const people = 20_000
  const by = createRandom(5)
  const values: number[] = []
  for (let person = 0; person < people; person++) {
    const one = [person, Math.floor(by() * 4), Math.floor(by() * 500), Math.floor(by() * 700)]
    const twin = [by() < 0.3 ? people + person : person, one[1] ?? 0, one[2] ?? 0, one[3] ?? 0]
    values.push(...one, ...twin)
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
