// Ids of sessions and dissents have one form.
import { expect, test } from 'vitest'
import { dissentId, sessionId } from './session-id.ts'

test('an id of 32 digits is one', () => {
  expect(sessionId.safeParse(`ses_${'0a'.repeat(16)}`).success).toBe(true)
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
