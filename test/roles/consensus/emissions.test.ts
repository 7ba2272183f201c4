// Lens emissions of peers: accepted only as signed, stored under their origin, and visible only to cleared callers.
import { afterAll, describe, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Statement } from '../../../daemon/kernel/messaging/statement.ts'
import { get } from '../../../daemon/roles/consensus/emission/get.ts'
import { list } from '../../../daemon/roles/consensus/emission/list.ts'
import { emission } from '../../../daemon/roles/consensus/federation/emission.ts'
import type { FederationMessage } from '../../../daemon/shared/federation-message/federation-message.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import { createOperator, setUpConsensusSite } from './consensus-site.ts'
import { createCarrier, createReader } from './federated-session.ts'
import { createPeerSite, sharedLabel } from './peer-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = setUpConsensusSite(() => ({ peers: [bravo.pinned, charlie.pinned] }))

type EmissionFields = Readonly<Record<string, unknown>>

let sessionCount = 0
/** A session of a peer that no other test speaks of. */
const nextSessionId = () => `ses_${String(++sessionCount).padStart(32, '0')}`

function buildDecision(session_id: string, more: EmissionFields = {}): EmissionFields {
  return {
    event: 'ratified',
    session_id,
    seq: 5,
    at: '2026-03-02T11:00:00.000Z',
    lens_id: 'vessel-identity',
    lens_version: '2',
    decision: 'match',
    score: 0.93,
    attested: false,
    evidence_block_id: 'e'.repeat(64),
    ...more,
  }
}
const withdrawal = { event: 'retracted', seq: 7, at: '2026-03-02T11:30:00.000Z' }

async function deliverEmission(fields: EmissionFields, changes: Partial<Statement> = {}, peer = bravo) {
  return (await createCarrier(world())).ok(emission, await peer.message('lens_emission', fields, changes))
}

async function listAuditRecords(target: string) {
  const { token } = await world().as({ subject: 'role:site', roles: ['admin'], tenant: '*' })
  const { json } = await world().call('consensus', 'GET', `/api/v2/audit?target=${target}`, undefined, { token })
  return (json as { items: unknown[] }).items.flatMap((item) => auditRecord.parse(item).event ?? [])
}

test('stores a decision of a peer with its origin, and finds it by its subject', async () => {
  const session_id = nextSessionId()
  const subject = { kind: 'entity_match', left: 'vessel/a', right: 'vessel/b', correlation_id: `match-${session_id}` }
  const parent_block_ids = ['ab'.repeat(32)]
  const taken = await deliverEmission(buildDecision(session_id, { subject }), { parent_block_ids, epoch: 2 })
  expect(taken).toMatchObject({
    id: `${session_id}@bravo`,
    tenant_id: 'tenant-a',
    origin: 'bravo',
    origin_tenant_id: 'tenant-b',
    status: 'standing',
    decision: 'match',
    score: 0.93,
    subject,
    classification: sharedLabel,
    signer_key_id: bravo.pinned.keys[0]?.kid,
    federation: { transport: 'filedrop', peer: 'bravo', epoch: 2, parent_block_ids },
  })
  const analyst = await world().as()
  expect(await analyst.ok(get, { id: taken.id })).toEqual(taken)
  for (const filter of [{ session_id }, { correlation_id: subject.correlation_id }])
    expect((await analyst.ok(list, filter)).items).toEqual([taken])
  expect(await listAuditRecords(taken.id)).toMatchObject([
    { action: 'consensus.federation.emission', outcome: 'done', tenant_id: 'tenant-a', detail: { peer: 'bravo' } },
  ])
})

describe('a peer that is heard again', () => {
  test('changes nothing with the same message, nor with the same words in another, however many come at once', async () => {
    const fields = buildDecision(nextSessionId())
    const first = await deliverEmission(fields)
    const service = await createCarrier(world())
    const message = await bravo.message('lens_emission', fields)
    world().clock.advance(1_000)
    const again = await Promise.all(Array.from({ length: 8 }, () => service.ok(emission, message)))
    again.push(await deliverEmission(fields))
    expect(again).toEqual(Array(9).fill(first))
    expect(await listAuditRecords(first.id)).toHaveLength(1)
  })

  test('withdraws what it decided by a retraction, and what was decided stays to be seen', async () => {
    const fields = buildDecision(nextSessionId())
    const first = await deliverEmission(fields)
    world().clock.advance(1_000)
    const withdrawn = await deliverEmission({ ...fields, ...withdrawal })
    expect(withdrawn).toMatchObject({ ...first, ...describeRetraction(withdrawal), federation: expect.anything() })
    expect(withdrawn.updated_at > first.updated_at).toBe(true)
    const late = await deliverEmission(fields)
    expect(late).toEqual(withdrawn)
    const details = (await listAuditRecords(first.id)).map(({ detail }) => detail.status)
    expect(details.toSorted()).toEqual(['standing', 'withdrawn'])
  })

  test('is withdrawn when the retraction overtakes the decision', async () => {
    const fields = buildDecision(nextSessionId())
    const withdrawn = await deliverEmission({ ...fields, ...withdrawal }, { seq: 900 })
    expect(withdrawn).toMatchObject({ status: 'withdrawn', decision: 'match' })
    expect(await deliverEmission(fields, { seq: 899 })).toEqual(withdrawn)
  })

  test('ends withdrawn, whichever of both is taken first', async () => {
    const fields = buildDecision(nextSessionId())
    const service = await createCarrier(world())
    const both = [fields, { ...fields, ...withdrawal }].map((each) => bravo.message('lens_emission', each))
    const messages = await Promise.all(both)
    await Promise.all([...messages, ...messages].map((message) => service.ok(emission, message)))
    expect(await (await createReader(world())).ok(get, { id: `${fields.session_id}@bravo` })).toMatchObject({
      status: 'withdrawn',
    })
  })

  test.each([
    ['another story under the same number', { decision: 'non_match' }, 'idempotency_mismatch'],
    ['a second decision', { decision: 'non_match', seq: 9 }, 'session_closed'],
  ])('is refused with %s', async (_, more, code) => {
    const fields = buildDecision(nextSessionId())
    const first = await deliverEmission(fields)
    const service = await createCarrier(world())
    expect(await service.refusal(emission, await bravo.message('lens_emission', { ...fields, ...more }))).toBe(code)
    expect(await (await createReader(world())).ok(get, { id: first.id })).toEqual(first)
    expect((await listAuditRecords(first.id)).filter(({ outcome }) => outcome === 'done')).toHaveLength(1)
  })

  test('does not touch the emission of another peer about a session with the same id', async () => {
    const fields = buildDecision(nextSessionId())
    const ofBravo = await deliverEmission(fields)
    const ofCharlie = await deliverEmission({ ...fields, ...withdrawal, decision: 'non_match' }, {}, charlie)
    expect([ofCharlie.id, ofCharlie.origin]).toEqual([`${fields.session_id}@charlie`, 'charlie'])
    expect(await (await world().as()).ok(get, { id: ofBravo.id })).toEqual(ofBravo)
  })
})

/** The status of a retracted emission in the API. */
function describeRetraction({ seq, at }: typeof withdrawal) {
  return { status: 'withdrawn', seq, at, updated_at: expect.any(String) }
}

const minutes = 60_000
const formatTime = (ms: number) => new Date(noon + ms).toISOString()
const createSender = (changes: Partial<Statement>, peer = bravo) => {
  return (fields: EmissionFields) => peer.message('lens_emission', fields, changes)
}
const wrongEmissions: readonly [name: string, code: string, make: (fields: EmissionFields) => Promise<unknown>][] = [
  ['flat JSON', 'invalid', async (fields) => fields],
  ['a field too many', 'invalid', (fields) => bravo.message('lens_emission', { ...fields, tenant_id: 'tenant-z' })],
  ['a score out of range', 'invalid', (fields) => bravo.message('lens_emission', { ...fields, score: 1.5 })],
  ['no decision', 'invalid', (fields) => bravo.message('lens_emission', { ...fields, decision: undefined })],
  [
    'a signature of nobody',
    'signature_invalid',
    async (fields) => {
      const { envelope, body } = await bravo.message('lens_emission', fields)
      const signatures = envelope.signatures.map((each) => ({ ...each, signature: 'A'.repeat(86) }))
      return { envelope: { ...envelope, signatures }, body }
    },
  ],
  ['an origin that another peer claims', 'signature_invalid', createSender({ src: 'bravo' }, charlie)],
  ['a peer that nobody enrolled', 'signature_invalid', createSender({ src: 'delta' })],
  ['another tenant than the pinned', 'signature_invalid', createSender({ sender_tenant_id: 'tenant-c' })],
  [
    'a body that was changed on the way',
    'signature_invalid',
    async (fields) => {
      const { envelope, body } = await bravo.message('lens_emission', fields)
      const text = Buffer.from(body, 'base64url').toString().replace('"match"', '"other"')
      return { envelope, body: Buffer.from(text).toString('base64url') }
    },
  ],
  ['a message of another kind', 'signature_invalid', (fields) => bravo.message('result', fields)],
  ['another site’s message', 'signature_invalid', createSender({ dst: 'delta' })],
  [
    'an expired message',
    'signature_invalid',
    createSender({ created: formatTime(-90 * minutes), not_after: formatTime(-16 * minutes) }),
  ],
  ['a message from the future', 'signature_invalid', createSender({ created: formatTime(1_440 * minutes) })],
  ['a label above the ceiling', 'label_denied', createSender({ label: { ...sharedLabel, level: 'TOP_SECRET' } })],
  [
    'a label that is not for this site',
    'label_denied',
    createSender({ label: { ...sharedLabel, releasable_to: ['tenant-b'] } }),
  ],
  [
    'a body under another label',
    'label_denied',
    (fields) => bravo.message('lens_emission', fields, {}, { label: { ...sharedLabel, level: 'SECRET' } }),
  ],
  ['another receiver’s tenant', 'not_your_tenant', createSender({ receiver_tenant_id: 'tenant-z' })],
]

test.each(wrongEmissions)('stores nothing of %s (%s)', async (_, code, make) => {
  const fields = buildDecision(nextSessionId())
  const service = await createCarrier(world())
  const refused = await service.call(emission, (await make(fields)) as FederationMessage)
  expect([refused.problem?.code, refused.status]).toEqual([code, code === 'invalid' ? 422 : 403])
  expect((await (await createReader(world())).ok(list, { session_id: String(fields.session_id) })).items).toEqual([])
})

test('only a caller that may deliver for the receiver’s tenant delivers', async () => {
  const message = await bravo.message('lens_emission', buildDecision(nextSessionId()))
  expect(await (await world().as({ roles: ['analyst'] })).refusal(emission, message)).toBe('forbidden')
  const foreign = await world().as({ roles: ['admin'], tenant: 'tenant-z' })
  expect(await foreign.refusal(emission, message)).toBe('not_your_tenant')
})

test('it does not exist for those below its label, nor for other tenants', async () => {
  const secret = { label: { ...sharedLabel, level: 'SECRET' } }
  const { id, session_id } = await deliverEmission(buildDecision(nextSessionId()), secret)
  const cleared = await createOperator(world())
  const below = await world().as({ clearance: { level: 'RESTRICTED' } })
  const foreign = await world().as({ tenant: 'tenant-z' })
  expect((await cleared.ok(list, { session_id })).items).toHaveLength(1)
  for (const stranger of [below, foreign]) {
    expect(await stranger.refusal(get, { id })).toBe('not_found')
    expect((await stranger.ok(list, { session_id })).items).toEqual([])
  }
  // A wider label makes the emission visible to more callers: the latest label of the origin applies.
  await deliverEmission(buildDecision(session_id, withdrawal))
  expect(await below.ok(get, { id })).toMatchObject({ status: 'withdrawn', classification: { level: 'UNCLASSIFIED' } })
  expect(await foreign.refusal(get, { id })).toBe('not_found')
})

test('the list is filtered by lens, origin and status, and comes in pages, the latest change first', async () => {
  const lens_id = 'lens-of-pages'
  const ids: string[] = []
  for (const peer of [bravo, charlie, bravo]) {
    world().clock.advance(1_000)
    ids.unshift((await deliverEmission(buildDecision(nextSessionId(), { lens_id }), {}, peer)).id)
  }
  const [newest = '', middle = '', oldest = ''] = ids
  world().clock.advance(1_000)
  await deliverEmission(buildDecision(oldest.replace('@bravo', ''), { lens_id, ...withdrawal }))
  const analyst = await world().as()
  const idsOf = async (filter: Parameters<typeof analyst.ok<typeof list.input, typeof list.output>>[1]) =>
    (await analyst.ok(list, { lens_id, ...filter })).items.map(({ id }) => id)
  expect(await idsOf({})).toEqual([oldest, newest, middle])
  expect(await idsOf({ origin: 'bravo' })).toEqual([oldest, newest])
  expect(await idsOf({ status: 'standing', origin: 'bravo' })).toEqual([newest])
  expect(await idsOf({ status: 'withdrawn' })).toEqual([oldest])
  const first = await analyst.ok(list, { lens_id, limit: 2 })
  const { items, next_cursor } = await analyst.ok(list, { lens_id, limit: 2, cursor: first.next_cursor })
  expect([...first.items, ...items].map(({ id }) => id)).toEqual([oldest, newest, middle])
  expect(next_cursor).toBeUndefined()
})

test('survives a restart', async () => {
  const taken = await deliverEmission(buildDecision(nextSessionId()))
  await world().restart()
  expect(await (await world().as()).ok(get, { id: taken.id })).toEqual(taken)
})
