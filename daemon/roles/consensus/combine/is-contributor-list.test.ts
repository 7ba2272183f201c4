// The contributors that a peer names must be those of the policy.
import { expect, test } from 'vitest'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { isContributorList } from './is-contributor-list.ts'

const open = quorumPolicy.parse({ m: 1, n: 2 })
const named = quorumPolicy.parse({ m: 1, n: 2, contributors: ['a', 'b'] })

test.each([
  [open, ['x', 'y'], true],
  [open, [], true],
  [open, ['x', 'y', 'z'], false],
  [open, ['x', 'x'], false],
  [named, ['b'], true],
  [named, ['a', 'x'], false],
] as const)('%o and %o: %s', (policy, ids, isAllowed) => {
  expect(isContributorList(policy, ids)).toBe(isAllowed)
})
