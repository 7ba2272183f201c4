// The estimate follows the size of a value, so that the queue is bounded by what it holds.
import { expect, test } from 'vitest'
import { boundPayload } from './bound-payload.ts'
import { estimateBytes } from './estimate-bytes.ts'

test.each([
  ['texts', { text: 'x'.repeat(8_000), other: 'y'.repeat(8_000) }],
  ['many values', { rows: Array.from({ length: 60 }, (_, at) => ({ at, name: `row ${at}` })) }],
  ['names', Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${'n'.repeat(120)}${at}`, at]))],
  ['nothing', {}],
])('a payload of %s is at least two thirds of its JSON, and at most four times that', (_, value) => {
  const payload = boundPayload(value)
  const json = JSON.stringify(payload).length
  expect(estimateBytes(payload)).toBeGreaterThan((json * 2) / 3)
  expect(estimateBytes(payload)).toBeLessThanOrEqual(json * 4)
})
