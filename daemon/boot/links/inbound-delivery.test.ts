// Holds what becomes of a delivered message: applied, refused for good, or to come again, and whose fault that is.

import { expect, test } from 'vitest'
import { sampleTrace } from '../../../test/support/trace/sample-trace.ts'
import { type ErrorCode, errorTable, refuse } from '../../kernel/error/errors.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import type { InboundMessage } from '../../kernel/messaging/transport.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import { reportThrottle } from '../../kernel/telemetry/report-throttle.ts'
import { invite } from '../../roles/consensus/federation/invite.ts'
import type { RoleCaller } from '../role-caller.ts'
import { inboundDelivery, verifiedMessageCache } from './inbound-delivery.ts'

const silent = () => undefined
const throttle = reportThrottle(() => 0)
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
  }) as unknown as InboundMessage

const present = async () => true

const failingCaller =
  (error: unknown): RoleCaller =>
  async () => {
    throw error
  }

test('a message is delivered to the operation that accepts its kind, with the signed bytes', async () => {
  const requests: unknown[] = []
  const verdict = await inboundDelivery(
    async (...request) => void requests.push(...request),
    present,
    log,
    throttle,
  )(message(), sampleTrace)
  expect(verdict).toEqual({ verdict: 'applied' })
  expect(requests).toEqual([
    expect.objectContaining({ operation: invite }),
    { envelope, body: Buffer.from('{"a":"ž"}').toString('base64url') },
    sampleTrace,
  ])
})

test('a message of a kind that no role accepts is refused', async () => {
  const verdict = await inboundDelivery(async () => undefined, present, log, throttle)(message('ping'), sampleTrace)
  expect(verdict).toMatchObject({ verdict: 'refused', code: 'not_found' })
})

test('a message for a role that the site does not run is set aside, and the role is not called', async () => {
  const requested: string[] = []
  const isPresent = async (role: string) => !requested.push(role)
  const verdict = await inboundDelivery(
    failingCaller(new Error('called')),
    isPresent,
    log,
    throttle,
  )(message(), sampleTrace)
  expect(verdict).toEqual({
    verdict: 'set_aside',
    detail: 'this site does not run role consensus, which takes messages of kind invitation',
  })
  expect(requested).toEqual(['consensus'])
})

/** A fault of this site or of the moment: the message must not be put away for it. */
const retriedCodes = new Set<ErrorCode>([
  'unauthenticated',
  'conflict',
  'rate_limited',
  'internal',
  'no_backend',
  'unavailable',
  'timeout',
])

test.each(Object.keys(errorTable) as ErrorCode[])(
  'the error code %s of a receiver decides between a retry and a refusal',
  async (code) => {
    const verdict = await inboundDelivery(
      failingCaller(refuse(code, 'why')),
      present,
      log,
      throttle,
    )(message(), sampleTrace)
    expect(verdict).toEqual(
      retriedCodes.has(code) ? { verdict: 'later', detail: 'why' } : { verdict: 'refused', code, detail: 'why' },
    )
  },
)

test('delivery to a failed receiver is retried, and the sender does not see the error', async () => {
  const verdict = await inboundDelivery(
    failingCaller(new TypeError('x of undefined')),
    present,
    log,
    throttle,
  )(message(), sampleTrace)
  expect(verdict).toEqual({ verdict: 'later', detail: 'the receiving role failed' })
})

test('a deferred message is logged once a minute for each peer, kind and cause', async () => {
  let now = 0
  const logged: unknown[] = []
  const counting: Log = { ...log, warn: (_event, fields) => void logged.push(fields) }
  let error: unknown = refuse('unavailable', 'why')
  const caller: RoleCaller = async () => {
    throw error
  }
  const deliver = inboundDelivery(
    caller,
    present,
    counting,
    reportThrottle(() => now),
  )
  for (let scan = 0; scan < 3; scan++) await deliver(message(), sampleTrace)
  expect(logged).toMatchObject([{ peer: 'bravo', kind: 'invitation', times: 1 }])
  error = refuse('timeout', 'why')
  await deliver(message(), sampleTrace)
  await deliver(message('result'), sampleTrace)
  expect(logged).toMatchObject([{}, { kind: 'invitation', times: 1 }, { kind: 'result', times: 1 }])
  now = 60_000
  error = refuse('unavailable', 'why')
  await deliver(message(), sampleTrace)
  expect(logged.at(-1)).toMatchObject({ kind: 'invitation', times: 3 })
})

test('a verified envelope is cached during its delivery only, for its own peer and type', async () => {
  const recent = verifiedMessageCache()
  const key = { kid: 'key-1' }
  const peers = { list: async () => [], get: async () => ({ keys: [key, { kid: 'key-2' }] }) as unknown as Peer }
  const find = (peer: string, type: 'statement' | 'evidence' = 'statement') => recent.find(peer, type, envelope)
  const during = await recent.retainDuring(message(), peers, async () => ({
    own: find('bravo'),
    others: [find('charlie'), find('bravo', 'evidence')],
  }))
  expect(during.own?.keys).toEqual([key])
  expect(Buffer.from(during.own?.payload ?? []).toString()).toBe('{"v":1}')
  expect(during.others).toEqual([undefined, undefined])
  expect(find('bravo')).toBeUndefined()
  const revoked = { kid: 'key-1', status: 'revoked' }
  const distrusting = { list: async () => [], get: async () => ({ keys: [revoked] }) as unknown as Peer }
  expect(await recent.retainDuring(message(), distrusting, async () => find('bravo'))).toBeUndefined()
  await expect(
    recent.retainDuring(message(), peers, failingCaller(new Error('broken')) as () => Promise<never>),
  ).rejects.toThrow()
  expect(find('bravo')).toBeUndefined()
})
