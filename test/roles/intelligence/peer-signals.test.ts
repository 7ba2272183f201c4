// Signals of peers: taken only as signed, once, under their label; and what may leave for a peer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { MessageBody, Statement } from '../../../daemon/kernel/messaging/statement.ts'
import { takeSignal } from '../../../daemon/roles/intelligence/federation/signal.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { send } from '../../../daemon/roles/intelligence/signal/send.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'
import { createPeerSite, sharedLabel } from '../consensus/peer-site.ts'
import { intelligenceProfile, raiseSignal } from './intelligence-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
let world: TestSite
beforeAll(async () => {
  world = await startTestSite({ profile: intelligenceProfile, peers: [bravo.pinned, charlie.pinned] })
})
afterAll(async () => {
  await world?.end()
  for (const peer of [bravo, charlie]) peer.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

let signalCount = 0
function buildPeerSignal(more: Readonly<Record<string, unknown>> = {}) {
  signalCount += 1
  return {
    event_id: `ev-${signalCount}`,
    signal_type: 'watchlist_hit',
    severity: 'high',
    title: 'Aurora seen at anchor',
    subject: { type: 'asset', id: 'ship-1', name: 'Aurora' },
    source: { type: 'computed', name: 'detector' },
    detected_at: '2026-03-02T11:00:00.000Z',
    ...more,
  }
}
const createCarrier = () => world.as({ subject: 'role:site', roles: ['service'], tenant: '*' })
type MessagePeer = typeof bravo
async function deliverSignal(
  fields: ReturnType<typeof buildPeerSignal>,
  by: Partial<Statement> = {},
  written: Partial<MessageBody> = {},
  peer: MessagePeer = bravo,
) {
  return (await createCarrier()).call(takeSignal, await peer.message('signal', fields, by, written))
}
const findSignal = async (uid: string, who = {}) => (await world.as(who)).call(get, { uid })

describe('a signal of a peer', () => {
  test('is one of this site, noticed by the peer, under the label that it came with', async () => {
    const label = { ...sharedLabel, level: 'SECRET', categories: [] }
    const { value } = await deliverSignal(buildPeerSignal({ confidence: 0.5, metadata: { speed: 3, received: 'x' } }), {
      label,
    })
    const uid = value?.uid ?? ''
    expect((await findSignal(uid)).value).toMatchObject({
      tenant_id: 'tenant-a',
      status: 'new',
      created_by: 'peer:bravo',
      actor: { type: 'service', id: 'bravo', name: 'tenant-b' },
      source: { type: 'computed', name: 'detector' },
      classification: { level: 'SECRET' },
      metadata: { speed: 3, received: { from: 'peer:bravo', as: expect.stringMatching(/^ev-/) } },
    })
    expect((await findSignal(uid, { subject: 'lou', clearance: { level: 'RESTRICTED' } })).status).toBe(404)
  })

  test('is taken once, however often it comes; the same id of another peer is another signal', async () => {
    const fields = buildPeerSignal()
    const first = await deliverSignal(fields)
    world.clock.advance(1_000)
    const again = await Promise.all(Array.from({ length: 8 }, () => deliverSignal(fields)))
    for (const { value } of again) expect(value).toEqual(first.value)
    expect((await deliverSignal(fields, {}, {}, charlie)).value?.uid).not.toBe(first.value?.uid)
  })

  test('is refused with other words, or another label, under an id that was taken', async () => {
    const fields = buildPeerSignal()
    await deliverSignal(fields)
    expect((await deliverSignal({ ...fields, title: 'nothing to see' })).problem?.code).toBe('idempotency_mismatch')
    const label = { ...sharedLabel, level: 'RESTRICTED' }
    expect((await deliverSignal(fields, { label })).problem?.code).toBe('idempotency_mismatch')
  })

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['without an id', { event_id: undefined }],
    ['with a status', { status: 'resolved' }],
    ['in the name of somebody here', { actor: { type: 'person', id: 'ann' } }],
    ['about nothing', { subject: undefined }],
    ['that is suppressed', { severity: 'suppressed' }],
    ['of the future', { detected_at: '2026-04-02T11:00:00.000Z' }],
    ['with a label of its own', { classification: sharedLabel }],
  ])('%s is refused', async (_, more) => {
    expect((await deliverSignal(buildPeerSignal(more))).problem?.code).toBe('invalid')
  })

  test('is refused when it is not what was signed, is for somebody else, or is brought by somebody else', async () => {
    const other = { ...sharedLabel, releasable_to: ['tenant-c'] }
    expect((await deliverSignal(buildPeerSignal(), {}, { label: other })).problem?.code).toBe('label_denied')
    expect((await deliverSignal(buildPeerSignal(), { receiver_tenant_id: 'tenant-c' })).problem?.code).toBe(
      'not_your_tenant',
    )
    const message = await bravo.message('signal', buildPeerSignal())
    const changed = {
      ...message,
      body: Buffer.from(Buffer.from(message.body, 'base64url').toString().replace('Aurora', 'Borealis')).toString(
        'base64url',
      ),
    }
    expect(await (await createCarrier()).refusal(takeSignal, changed)).toBe('signature_invalid')
    const asContribution = await bravo.message('contribution', buildPeerSignal())
    expect(await (await createCarrier()).refusal(takeSignal, asContribution)).toBe('signature_invalid')
    for (const roles of [['analyst'], ['operator'], ['auditor']])
      expect(await (await world.as({ roles })).refusal(takeSignal, message)).toBe('forbidden')
    const otherTenantUser = await world.as({ roles: ['admin'], tenant: 'tenant-b' })
    expect(await otherTenantUser.refusal(takeSignal, message)).toBe('not_your_tenant')
  })
})

describe('a signal for a peer', () => {
  const operator = () => world.as({ subject: 'olga', roles: ['operator'] })
  const releasable = { level: 'RESTRICTED', releasable_to: ['tenant-a', 'tenant-b'] }

  test('goes out once with its reports, and is audited', async () => {
    const olga = await operator()
    const uid = await raiseSignal(olga, {
      classification: releasable,
      metadata: { internal: 'note' },
      routing: { desk: 'east' },
    })
    expect(await olga.ok(send, { uid, peer: 'bravo' })).toEqual({ uid, peer: 'bravo', event_id: uid })
    expect(await olga.ok(send, { uid, peer: 'bravo' })).toMatchObject({ event_id: uid })
    const { json } = await world.call('site', 'GET', '/api/v2/site/channel', undefined, { token: olga.token })
    const [out] = (json as { items: { peer: string; direction: string; highest_seq: number }[] }).items.filter(
      ({ peer, direction }) => peer === 'bravo' && direction === 'out',
    )
    const { token } = await world.as({ subject: 'eve', roles: ['admin'] })
    const audit = await world.call('intelligence', 'GET', `/api/v1/audit?target=${uid}`, undefined, { token })
    const events = (audit.json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event?.action)
    expect(events).toContain('intelligence.signal.send')
    expect(out?.highest_seq).toBe(1)
  })

  test('stays here where its label, its tenant or the caller does not let it go', async () => {
    const olga = await operator()
    const uid = await raiseSignal(olga, { classification: releasable })
    const secret = await raiseSignal(olga, { classification: { ...releasable, level: 'TOP_SECRET' } })
    const own = await raiseSignal(olga, { classification: 'RESTRICTED' })
    expect(await olga.refusal(send, { uid, peer: 'charlie' })).toBe('label_denied')
    expect(await olga.refusal(send, { uid: secret, peer: 'bravo' })).toBe('label_denied')
    expect(await olga.refusal(send, { uid: own, peer: 'bravo' })).toBe('label_denied')
    expect(await olga.refusal(send, { uid, peer: 'nobody' })).toBe('label_denied')
    expect(await (await world.as({ roles: ['analyst'] })).refusal(send, { uid, peer: 'bravo' })).toBe('forbidden')
    const otherTenantUser = await world.as({ subject: 'bea', tenant: 'tenant-b', roles: ['operator'] })
    const theirs = await raiseSignal(otherTenantUser, {
      classification: { level: 'RESTRICTED', releasable_to: ['tenant-b'] },
    })
    expect(await otherTenantUser.refusal(send, { uid: theirs, peer: 'bravo' })).toBe('not_your_tenant')
  })
})
