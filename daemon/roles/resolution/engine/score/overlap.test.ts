// What two fields both tell is shared between them, and what is told by one alone is not.
import { expect, test } from 'vitest'
import { createRandom } from '../random.ts'
import { estimateFieldOverlaps } from './overlap.ts'

test('a town and its postal code tell the same; a name beside them tells its own, even where records are doubled', () => {
  const people = 20_000
  const by = createRandom(3)
  const values: number[] = []
  for (let person = 0; person < people; person++) {
    const town = Math.floor(by() * 300)
    const one = [town, town + 1_000, Math.floor(by() * 400), person]
    values.push(...one, ...one)
  }
  const table = { rows: people * 2, width: 4, values: Int32Array.from(values) }
  const sizes = [0, 1, 2, 3].map((field) => {
    const counts = new Int32Array(people)
    for (let row = 0; row < table.rows; row++) counts[table.values[row * 4 + field] ?? 0]! += 1
    return counts
  })
  const [town = 0, postcode = 0, name = 0, number = 0] = estimateFieldOverlaps(table, sizes, createRandom(1))
  expect(town).toBeCloseTo(2, 1)
  expect(postcode).toBeCloseTo(2, 1)
  expect(name).toBeCloseTo(1, 1)
  expect(number).toBeCloseTo(1, 1)
})
