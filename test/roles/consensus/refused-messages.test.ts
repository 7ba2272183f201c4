// A peer's message changes something only when it is complete, signed, fresh, correctly labelled and addressed here.
import { afterAll, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { MessageBody, Statement } from '../../../daemon/kernel/messaging/statement.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { FederationMessage } from '../../../daemon/shared/federation-message/federation-message.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import { createOperator, setUpConsensusSite } from './consensus-site.ts'
import { buildOpinionFields, createCarrier, openInvitedSession } from './federated-session.ts'
import { createPeerSite, sharedLabel } from './peer-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = setUpConsensusSite(() => ({ peers: [bravo.pinned, charlie.pinned] }))

type OpinionFields = ReturnType<typeof buildOpinionFields>
type WrongMessage = {
  readonly description: string
  readonly code: string
  readonly make: (fields: OpinionFields) => Promise<unknown>
  readonly invite?: string[]
}

const signOpinion = (fields: object, changes?: Partial<Statement>, peer = bravo, written?: Partial<MessageBody>) =>
  peer.message('contribution', { ...fields }, changes, written)
const alterMessage = async (fields: OpinionFields, change: (message: FederationMessage) => Record<string, unknown>) => {
  const message = await signOpinion(fields)
  return { ...message, ...change(message) }
}
const stripSignatures = ({ envelope: { payload, signatures } }: FederationMessage) => ({
  envelope: { payload, signatures: signatures.map((each) => ({ ...each, signature: 'A'.repeat(86) })) },
})
const rewriteBody = ({ body }: FederationMessage) => ({
  body: Buffer.from(Buffer.from(body, 'base64url').toString().replace('0.9', '0.1')).toString('base64url'),
})
const formatTime = (ms: number) => new Date(noon + ms).toISOString()
const minutes = 60_000
const aboveCeilingLabel = { ...sharedLabel, level: 'SECRET' }

/** Inputs that are not a message: 422. */
const shapelessMessages: WrongMessage[] = [
  { description: 'flat JSON', make: async (fields: OpinionFields) => fields },
  {
    description: 'flat JSON beside a message',
    make: async (fields: OpinionFields) => ({ ...fields, ...(await signOpinion(fields)) }),
  },
  {
    description: 'an envelope as text',
    make: (fields: OpinionFields) => alterMessage(fields, ({ envelope }) => ({ envelope: JSON.stringify(envelope) })),
  },
  {
    description: 'an envelope without signatures',
    make: (fields: OpinionFields) => alterMessage(fields, () => ({ envelope: {} })),
  },
  { description: 'a body as JSON', make: (fields: OpinionFields) => alterMessage(fields, () => ({ body: fields })) },
  {
    description: 'a body that is not base64url',
    make: (fields: OpinionFields) => alterMessage(fields, () => ({ body: '{"data":1}' })),
  },
  {
    description: 'signed data with a field too many',
    make: (fields: OpinionFields) => signOpinion({ ...fields, weight: 9 }),
  },
  { description: 'signed data out of range', make: (fields: OpinionFields) => signOpinion({ ...fields, accuracy: 2 }) },
  {
    description: 'a body of another schema',
    make: (fields: OpinionFields) => signOpinion(fields, {}, bravo, { schema: 'consensus.other/1' }),
  },
].map((each) => ({ ...each, code: 'invalid' }))

const forgedMessages: WrongMessage[] = [
  { description: 'a signature of nobody', make: (fields: OpinionFields) => alterMessage(fields, stripSignatures) },
  {
    description: 'another peer’s key under this name',
    make: (fields: OpinionFields) => signOpinion(fields, { src: 'bravo' }, charlie),
  },
  {
    description: 'a peer that nobody enrolled',
    make: (fields: OpinionFields) => signOpinion(fields, { src: 'delta' }),
  },
  {
    description: 'another tenant than the pinned',
    make: (fields: OpinionFields) => signOpinion(fields, { sender_tenant_id: 'tenant-c' }),
  },
  {
    description: 'the receiver’s tenant as sender',
    make: (fields: OpinionFields) => signOpinion(fields, { sender_tenant_id: 'tenant-a' }),
  },
  {
    description: 'a body that was changed on the way',
    make: (fields: OpinionFields) => alterMessage(fields, rewriteBody),
  },
  { description: 'another site’s message', make: (fields: OpinionFields) => signOpinion(fields, { dst: 'delta' }) },
  {
    description: 'a message of another kind',
    make: (fields: OpinionFields) => signOpinion(fields, { kind: 'result' }),
  },
  {
    description: 'an expired message',
    make: (fields: OpinionFields) =>
      signOpinion(fields, { created: formatTime(-90 * minutes), not_after: formatTime(-16 * minutes) }),
  },
  {
    description: 'a message that asks for more time than enrolment grants',
    make: (fields: OpinionFields) =>
      signOpinion(fields, { created: formatTime(-8 * 1_440 * minutes), not_after: formatTime(365 * 1_440 * minutes) }),
  },
  {
    description: 'a message from the future',
    make: (fields: OpinionFields) => signOpinion(fields, { created: formatTime(16 * minutes) }),
  },
].map((each) => ({ ...each, code: 'signature_invalid' }))

const mislabelledMessages: WrongMessage[] = [
  {
    description: 'a label above the channel’s ceiling',
    make: (fields: OpinionFields) => signOpinion(fields, { label: { ...sharedLabel, level: 'TOP_SECRET' } }),
  },
  {
    description: 'a label that is not releasable to this site',
    make: (fields: OpinionFields) => signOpinion(fields, { label: { ...sharedLabel, releasable_to: ['tenant-b'] } }),
  },
  {
    description: 'a body under another label',
    make: (fields: OpinionFields) => signOpinion(fields, {}, bravo, { label: aboveCeilingLabel }),
  },
  {
    description: 'a contribution above its message',
    make: (fields: OpinionFields) => signOpinion({ ...fields, classification: aboveCeilingLabel }),
  },
  {
    description: 'a contribution above the session',
    make: (fields: OpinionFields) =>
      signOpinion({ ...fields, classification: aboveCeilingLabel }, { label: aboveCeilingLabel }),
  },
  {
    description: 'a contribution that would hide the session from everybody',
    make: (fields: OpinionFields) =>
      signOpinion({ ...fields, classification: { ...sharedLabel, releasable_to: ['nobody'] } }),
  },
].map((each) => ({ ...each, code: 'label_denied' }))

const misplacedMessages: WrongMessage[] = [
  {
    description: 'another receiver’s tenant',
    code: 'not_your_tenant',
    make: (fields) => signOpinion(fields, { receiver_tenant_id: 'tenant-z' }),
  },
  {
    description: 'a peer that was not invited',
    code: 'not_contributor',
    make: (fields) => signOpinion(fields),
    invite: [],
  },
]

test.each([...shapelessMessages, ...forgedMessages, ...mislabelledMessages, ...misplacedMessages])(
  'refused before anything changes: $description ($code)',
  async ({ code, make, invite = ['bravo'] }) => {
    const session = await openInvitedSession(world(), { m: 2, n: 3 }, invite)
    const [service, witness] = [await createCarrier(world()), await createOperator(world())]
    const refused = await service.call(federate, (await make(buildOpinionFields(session.id, 0.9))) as FederationMessage)
    expect([refused.problem?.code, refused.status]).toEqual([code, code === 'invalid' ? 422 : 403])
    expect(await witness.ok(get, { id: session.id })).toEqual(session)
    expect((await witness.ok(recordOf, { id: session.id })).items).toEqual([])
    if (code === 'invalid') return
    const auditor = await world().as({ subject: 'role:site', roles: ['admin'], tenant: '*' })
    const at = '/api/v2/audit?action=consensus.federation.contribute&limit=1'
    const { json } = await world().call('consensus', 'GET', at, undefined, { token: auditor.token })
    const [found] = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item))
    expect(found?.event).toMatchObject({ outcome: 'refused', detail: { code } })
    // Only what is verified is named.
    const named = code === 'signature_invalid' ? { target: '' } : { target: session.id, detail: { peer: 'bravo' } }
    if (code !== 'label_denied') expect(found?.event).toMatchObject(named)
  },
)

test('a message within the allowed skew of its time is taken', async () => {
  const { id } = await openInvitedSession(world(), { m: 2, n: 3 }, ['bravo', 'charlie'])
  const service = await createCarrier(world())
  const late = { created: formatTime(-90 * minutes), not_after: formatTime(-14 * minutes) }
  expect(await service.ok(federate, await signOpinion(buildOpinionFields(id, 0.9), late))).toMatchObject({
    contributions: 1,
  })
  const early = { created: formatTime(14 * minutes) }
  const taken = await service.ok(federate, await signOpinion(buildOpinionFields(id, 0.8), early, charlie))
  expect(taken).toMatchObject({ contributions: 2 })
})
