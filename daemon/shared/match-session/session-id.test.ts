// The id of a session shows which site may make it.
import { expect, test } from 'vitest'
import { dissentId, hostedSessionId, isReservedFor, sessionId } from './session-id.ts'

test('each site makes ids in a part of its own', () => {
  const id = hostedSessionId('alpha', 'ab'.repeat(16))
  expect(sessionId.safeParse(id).success).toBe(true)
  expect(id.endsWith('ab'.repeat(12))).toBe(true)
  expect([isReservedFor('alpha', id), isReservedFor('bravo', id)]).toEqual([true, false])
})

test.each([
  '',
  'ses_1',
  `ses_${'A'.repeat(32)}`,
  `ses_${'0'.repeat(33)}`,
  `ses_${'0'.repeat(32)}@alpha`,
  `ses_${'0'.repeat(32)}\n`,
  `dis_${'0'.repeat(32)}`,
])('%j is not the id of a session', (id) => {
  expect(sessionId.safeParse(id).success).toBe(false)
})

test('the id of a dissent has one form as well', () => {
  expect(dissentId.safeParse(`dis_${'0'.repeat(32)}`).success).toBe(true)
  expect(dissentId.safeParse(`dis_${'0'.repeat(32)}@alpha`).success).toBe(false)
})
