// What a peer's message must be to change anything: whole, signed, its own, fresh, rightly labelled and meant for here.
import { afterAll, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit.ts'
import type { MessageBody, Statement } from '../../../daemon/kernel/transport.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { FederationMessage } from '../../../daemon/shared/federation-message.ts'
import { noon } from '../../support/simulated-clock.ts'
import { operatorOf, sharedWorld } from './consensus-world.ts'
import { carrierOf, invitedSession, opinionFields } from './federated-session.ts'
import { peerSite, sharedLabel } from './peer-messages.ts'

const bravo = await peerSite('bravo', 'tenant-b')
const charlie = await peerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = sharedWorld(() => ({ peers: [bravo.pinned, charlie.pinned] }))

type Fields = ReturnType<typeof opinionFields>
type Wrong = {
  readonly told: string
  readonly code: string
  readonly make: (fields: Fields) => Promise<unknown>
  readonly invite?: string[]
}

const signedBy = (fields: object, said?: Partial<Statement>, peer = bravo, written?: Partial<MessageBody>) =>
  peer.message('contribution', { ...fields }, said, written)
const altered = async (fields: Fields, change: (message: FederationMessage) => Record<string, unknown>) => {
  const message = await signedBy(fields)
  return { ...message, ...change(message) }
}
const unsigned = ({ envelope: { payload, signatures } }: FederationMessage) => ({
  envelope: { payload, signatures: signatures.map((each) => ({ ...each, signature: 'A'.repeat(86) })) },
})
const rewritten = ({ body }: FederationMessage) => ({
  body: Buffer.from(Buffer.from(body, 'base64url').toString().replace('0.9', '0.1')).toString('base64url'),
})
const time = (ms: number) => new Date(noon + ms).toISOString()
const minutes = 60_000
const above = { ...sharedLabel, level: 'SECRET' }

/** What is no message at all: 422. */
const shapeless: Wrong[] = [
  { told: 'flat JSON', make: async (fields: Fields) => fields },
  { told: 'flat JSON beside a message', make: async (fields: Fields) => ({ ...fields, ...(await signedBy(fields)) }) },
  {
    told: 'an envelope as text',
    make: (fields: Fields) => altered(fields, ({ envelope }) => ({ envelope: JSON.stringify(envelope) })),
  },
  { told: 'an envelope without signatures', make: (fields: Fields) => altered(fields, () => ({ envelope: {} })) },
  { told: 'a body as JSON', make: (fields: Fields) => altered(fields, () => ({ body: fields })) },
  { told: 'a body that is not base64url', make: (fields: Fields) => altered(fields, () => ({ body: '{"data":1}' })) },
  { told: 'signed data with a field too many', make: (fields: Fields) => signedBy({ ...fields, weight: 9 }) },
  { told: 'signed data out of range', make: (fields: Fields) => signedBy({ ...fields, accuracy: 2 }) },
  {
    told: 'a body of another schema',
    make: (fields: Fields) => signedBy(fields, {}, bravo, { schema: 'consensus.other/1' }),
  },
].map((each) => ({ ...each, code: 'invalid' }))

const forged: Wrong[] = [
  { told: 'a signature of nobody', make: (fields: Fields) => altered(fields, unsigned) },
  { told: 'another peer’s key under this name', make: (fields: Fields) => signedBy(fields, { src: 'bravo' }, charlie) },
  { told: 'a peer that nobody enrolled', make: (fields: Fields) => signedBy(fields, { src: 'delta' }) },
  {
    told: 'another tenant than the pinned',
    make: (fields: Fields) => signedBy(fields, { sender_tenant_id: 'tenant-c' }),
  },
  {
    told: 'the receiver’s tenant as sender',
    make: (fields: Fields) => signedBy(fields, { sender_tenant_id: 'tenant-a' }),
  },
  { told: 'a body that was changed on the way', make: (fields: Fields) => altered(fields, rewritten) },
  { told: 'another site’s message', make: (fields: Fields) => signedBy(fields, { dst: 'delta' }) },
  { told: 'a message of another kind', make: (fields: Fields) => signedBy(fields, { kind: 'result' }) },
  {
    told: 'an expired message',
    make: (fields: Fields) => signedBy(fields, { created: time(-90 * minutes), not_after: time(-16 * minutes) }),
  },
  {
    told: 'a message that asks for more time than enrolment grants',
    make: (fields: Fields) =>
      signedBy(fields, { created: time(-8 * 1_440 * minutes), not_after: time(365 * 1_440 * minutes) }),
  },
  { told: 'a message from the future', make: (fields: Fields) => signedBy(fields, { created: time(16 * minutes) }) },
].map((each) => ({ ...each, code: 'signature_invalid' }))

const mislabelled: Wrong[] = [
  {
    told: 'a label above the channel’s ceiling',
    make: (fields: Fields) => signedBy(fields, { label: { ...sharedLabel, level: 'TOP_SECRET' } }),
  },
  {
    told: 'a label that is not releasable to this site',
    make: (fields: Fields) => signedBy(fields, { label: { ...sharedLabel, releasable_to: ['tenant-b'] } }),
  },
  { told: 'a body under another label', make: (fields: Fields) => signedBy(fields, {}, bravo, { label: above }) },
  {
    told: 'a contribution above its message',
    make: (fields: Fields) => signedBy({ ...fields, classification: above }),
  },
  {
    told: 'a contribution above the session',
    make: (fields: Fields) => signedBy({ ...fields, classification: above }, { label: above }),
  },
  {
    told: 'a contribution that would hide the session from everybody',
    make: (fields: Fields) => signedBy({ ...fields, classification: { ...sharedLabel, releasable_to: ['nobody'] } }),
  },
].map((each) => ({ ...each, code: 'label_denied' }))

const misplaced: Wrong[] = [
  {
    told: 'another receiver’s tenant',
    code: 'not_your_tenant',
    make: (fields) => signedBy(fields, { receiver_tenant_id: 'tenant-z' }),
  },
  { told: 'a peer that was not invited', code: 'not_contributor', make: (fields) => signedBy(fields), invite: [] },
]

test.each([...shapeless, ...forged, ...mislabelled, ...misplaced])(
  'refused before anything changes: $told ($code)',
  async ({ code, make, invite = ['bravo'] }) => {
    const session = await invitedSession(world(), { m: 2, n: 3 }, invite)
    const [service, witness] = [await carrierOf(world()), await operatorOf(world())]
    const refused = await service.ask(federate, (await make(opinionFields(session.id, 0.9))) as FederationMessage)
    expect([refused.problem?.code, refused.status]).toEqual([code, code === 'invalid' ? 422 : 403])
    expect(await witness.ok(get, { id: session.id })).toEqual(session)
    expect((await witness.ok(recordOf, { id: session.id })).items).toEqual([])
    if (code === 'invalid') return
    const auditor = await world().as({ subject: 'role:site', roles: ['admin'], tenant: '*' })
    const at = '/api/v2/audit?action=consensus.federation.contribute&limit=1'
    const { json } = await world().call('consensus', 'GET', at, undefined, { token: auditor.token })
    const [found] = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item))
    expect(found?.event).toMatchObject({ outcome: 'refused', detail: { code } })
  },
)

test('a message within the allowed skew of its time is taken', async () => {
  const { id } = await invitedSession(world(), { m: 2, n: 3 }, ['bravo', 'charlie'])
  const service = await carrierOf(world())
  const late = { created: time(-90 * minutes), not_after: time(-14 * minutes) }
  expect(await service.ok(federate, await signedBy(opinionFields(id, 0.9), late))).toMatchObject({ contributions: 1 })
  const early = { created: time(14 * minutes) }
  const taken = await service.ok(federate, await signedBy(opinionFields(id, 0.8), early, charlie))
  expect(taken).toMatchObject({ contributions: 2 })
})
