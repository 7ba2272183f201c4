// Holds what becomes of a delivered message: applied, refused for good, or to come again, and whose fault that is.

import { expect, test } from 'vitest'
import { aTrace } from '../../test/support/a-trace.ts'
import type { Log } from '../kernel/call.ts'
import { type ErrorCode, errorTable, refuse } from '../kernel/errors.ts'
import type { Peer } from '../kernel/peer.ts'
import type { Incoming } from '../kernel/transport.ts'
import { invite } from '../roles/consensus/federation/invite.ts'
import type { Ask } from './asking.ts'
import { delivery, recentlyVerified } from './carriage.ts'

const silent = () => undefined
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }
const envelope = {
  payload: Buffer.from('{"v":1}').toString('base64url'),
  signatures: [{ protected: 'p', signature: 's' }],
}
const message = (kind = 'invitation') =>
  ({
    envelope: JSON.stringify(envelope),
    body_text: '{"a":"ž"}',
    statement: { src: 'bravo', msg_id: 'msg_1', kind },
    signer_key_id: 'key-1',
  }) as unknown as Incoming

const failing =
  (error: unknown): Ask =>
  async () => {
    throw error
  }

test('it goes to the operation that takes its kind, with the bytes that were signed for', async () => {
  const asked: unknown[] = []
  const verdict = await delivery(async (...given) => void asked.push(...given), log)(message(), aTrace)
  expect(verdict).toEqual({ verdict: 'applied' })
  expect(asked).toEqual([invite, { envelope, body: Buffer.from('{"a":"ž"}').toString('base64url') }, aTrace])
})

test('a kind that no role takes is refused', async () => {
  const verdict = await delivery(async () => undefined, log)(message('ping'), aTrace)
  expect(verdict).toMatchObject({ verdict: 'refused', code: 'not_found' })
})

/** A fault of this site or of the moment: the message must not be put away for it. */
const later = new Set<ErrorCode>(['unauthenticated', 'conflict', 'rate_limited', 'internal', 'unavailable', 'timeout'])

test.each(Object.keys(errorTable) as ErrorCode[])('a receiver that answers %s', async (code) => {
  const verdict = await delivery(failing(refuse(code, 'why')), log)(message(), aTrace)
  expect(verdict).toEqual(
    later.has(code) ? { verdict: 'later', detail: 'why' } : { verdict: 'refused', code, detail: 'why' },
  )
})

test('a receiver that breaks is tried again, and the sender is not told how it broke', async () => {
  const verdict = await delivery(failing(new TypeError('x of undefined')), log)(message(), aTrace)
  expect(verdict).toEqual({ verdict: 'later', detail: 'the receiving role failed' })
})

test('what the carrier verified is known as such while it is delivered, and only then and there', async () => {
  const recent = recentlyVerified()
  const key = { kid: 'key-1' }
  const peers = { list: async () => [], get: async () => ({ keys: [key, { kid: 'key-2' }] }) as unknown as Peer }
  const find = (peer: string, type: 'statement' | 'evidence' = 'statement') => recent.find(peer, type, envelope)
  const during = await recent.during(message(), peers, async () => ({
    own: find('bravo'),
    others: [find('charlie'), find('bravo', 'evidence')],
  }))
  expect(during.own?.keys).toEqual([key])
  expect(Buffer.from(during.own?.payload ?? []).toString()).toBe('{"v":1}')
  expect(during.others).toEqual([undefined, undefined])
  expect(find('bravo')).toBeUndefined()
  const revoked = { kid: 'key-1', status: 'revoked' }
  const distrusting = { list: async () => [], get: async () => ({ keys: [revoked] }) as unknown as Peer }
  expect(await recent.during(message(), distrusting, async () => find('bravo'))).toBeUndefined()
  await expect(recent.during(message(), peers, failing(new Error('broken')) as () => Promise<never>)).rejects.toThrow()
  expect(find('bravo')).toBeUndefined()
})
