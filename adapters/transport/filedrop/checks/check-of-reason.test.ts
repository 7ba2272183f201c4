// The check that an item failed, by its reason: each reason has one, and a later check means more that passed.
import { expect, test } from 'vitest'
import { quarantineReasons } from '../quarantine-reasons.ts'
import { checksOfReason } from './check-of-reason.ts'
import { messageChecks } from './message-checks.ts'

test('every reason names what failed', () => {
  for (const reason of quarantineReasons) expect(checksOfReason(reason, undefined)?.failed).toBeTruthy()
  expect(checksOfReason('UNEXPLAINED', undefined)).toBeUndefined()
})

test('what came before the failed check has passed', () => {
  expect(checksOfReason('NAME', undefined)).toEqual({ passed: [], failed: 'name' })
  expect(checksOfReason('EXPIRED', undefined)).toEqual({
    passed: ['name', 'kind', 'size', 'json', 'signature', 'statement', 'destination', 'channel'],
    failed: 'freshness',
  })
  expect(checksOfReason('REFUSED', 'session_closed')?.passed).toEqual(messageChecks.map(({ name }) => name))
})

test('a purged message has passed nothing that is known', () => {
  expect(checksOfReason('REFUSED', 'purged')).toEqual({ passed: [], failed: 'an order to purge its body' })
})
