// The id of a shared object shows which site may make it.
import { expect, test } from 'vitest'
import { isReservedFor, originId } from './origin-id.ts'

test.each(['ses', 'xchg'] as const)('each site makes %s ids in a part of its own', (prefix) => {
  const id = originId(prefix, 'alpha', 'ab'.repeat(16))
  expect(id).toMatch(new RegExp(`^${prefix}_[0-9a-f]{8}(ab){12}$`))
  expect([isReservedFor('alpha', id), isReservedFor('bravo', id)]).toEqual([true, false])
})
