// Two fields share the evidence that both provide, but not the evidence that one provides alone.
import { expect, test } from 'vitest'
import { createRandom } from '../random.ts'
import { estimateFieldOverlaps } from './overlap.ts'

test('a town and its postal code share their evidence; a name has its own, even among duplicated records', () => {
  const people = 20_000
  const random = createRandom(3)
  const values: number[] = []
  for (let person = 0; person < people; person++) {
    const town = Math.floor(random() * 300)
    const record = [town, town + 1_000, Math.floor(random() * 400), person]
    values.push(...record, ...record)
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
