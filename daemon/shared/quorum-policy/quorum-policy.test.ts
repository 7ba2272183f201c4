// Bounds of the quorum policy.
import { expect, test } from 'vitest'
import { quorumPolicy } from './quorum-policy.ts'

test('m and n are sufficient', () => {
  expect(quorumPolicy.parse({ m: 2, n: 3 })).toEqual({
    m: 2,
    n: 3,
    combination_method: 'weighted_average',
    ratify_threshold: 0.8,
    conflict_threshold: 0.5,
  })
})

test.for([
  { m: 1, n: 1 },
  { m: 1000, n: 1000, ratify_threshold: 1, conflict_threshold: 1 },
  { m: 1, n: 2, contributors: ['a', 'b'], deadline: '2030-01-02T03:04:05Z' },
  { m: 1, n: 2, deadline: '2030-01-02T03:04:05.678+02:00' },
])('accepts %j', (policy) => expect(quorumPolicy.safeParse(policy).success).toBe(true))

test.for([
  { m: 0, n: 1 },
  { m: 2, n: 1 },
  { m: 1, n: 1001 },
  { m: 1.5, n: 2 },
  { m: 1 },
  { m: 1, n: 1, ratify_threshold: 0.5 },
  { m: 1, n: 1, ratify_threshold: 1.01 },
  { m: 1, n: 1, ratify_threshold: Number.NaN },
  { m: 1, n: 1, conflict_threshold: 0 },
  { m: 1, n: 1, conflict_threshold: Number.POSITIVE_INFINITY },
  { m: 1, n: 1, combination_method: 'vote' },
  { m: 1, n: 2, contributors: ['a'] },
  { m: 1, n: 2, contributors: ['a', 'a'] },
  { m: 1, n: 1, contributors: [''] },
  { m: 1, n: 1, deadline: '2030-01-02' },
  { m: 1, n: 1, deadline: '2030-01-02T03:04:05' },
  { m: 1, n: 1, quorum: 1 },
])('refuses %j', (policy) => expect(quorumPolicy.safeParse(policy).success).toBe(false))

test('a fault names the invalid field', () => {
  const paths = (policy: object) => quorumPolicy.safeParse(policy).error?.issues.map((issue) => issue.path.join('.'))
  expect(paths({ m: 3, n: 2 })).toEqual(['m'])
  expect(paths({ m: 1, n: 3, contributors: ['a', 'a'] })).toEqual(['contributors', 'contributors'])
})
