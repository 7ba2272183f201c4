// A stored principal never has more than was stored, never more than its roles permit now, and nothing once revoked.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { currentPrincipals } from './current-principals.ts'

const stored_ts = Date.parse('2026-03-02T12:00:00.900Z')
const ann = { subject: 'ann', tenant_id: 't', roles: ['analyst', 'gone'], stored_ts }
const table = { analyst: ['resolution:write'], admin: ['*'] }

const load = (revokedUntil_s: number, principal: Partial<typeof ann> = {}) =>
  currentPrincipals({ isRevoked: ({ sub, iat }) => sub === 'ann' && iat <= revokedUntil_s }, table).load({
    ...ann,
    ...principal,
  })

test('has the permissions that its stored roles have now', async () => {
  const caller = await load(0)
  if (isRefusal(caller)) throw caller
  expect([...caller.permissions]).toEqual(['resolution:write'])
  expect(caller).toMatchObject({ subject: 'ann', tenant_id: 't' })
  expect(caller.expires_ts).toBeUndefined()
})

test('is revoked with its subject from then on, and work that it stored later is not', async () => {
  const stored_s = Math.floor(stored_ts / 1_000)
  expect(await load(stored_s)).toMatchObject({ code: 'forbidden', message: expect.stringContaining('ann was revoked') })
  expect(isRefusal(await load(stored_s - 1))).toBe(false)
  expect(isRefusal(await load(stored_s + 9, { stored_ts: stored_ts + 10_000 }))).toBe(false)
})

test('cannot act for every tenant', async () => {
  expect(await load(0, { tenant_id: '*' })).toMatchObject({ code: 'forbidden' })
})

test('has no verdict while the revocations cannot be read', async () => {
  const unreadable = currentPrincipals(
    {
      isRevoked() {
        throw new Error('unreadable')
      },
    },
    table,
  )
  await expect(unreadable.load(ann)).rejects.toThrow('unreadable')
})
