// Contributions of peers: to the bit what local ones are, in the order of their source, and nothing unsigned among them.
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit.ts'
import type { MessageBody, Statement } from '../../../daemon/kernel/transport.ts'
import { combine } from '../../../daemon/roles/consensus/combine/combine.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import type { FederationMessage } from '../../../daemon/roles/consensus/federation/message.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { combinationMethods } from '../../support/opinions.ts'
import { noon } from '../../support/simulated-clock.ts'
import { type AskedPolicy, asked, delivered, operatorOf, opinion, sharedWorld } from './consensus-world.ts'
import { peerSite, shared, sharedLabel } from './peer-messages.ts'

const numRuns = Number(process.env.FAST_CHECK_RUNS ?? 25)
const bravo = await peerSite('bravo', 'tenant-b')
const charlie = await peerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})

/** The peers' tenants are enrolled as well, so that one and the same set can also be given locally. */
const everybody = ['tenant-b', 'tenant-c', 'c1', 'c2', 'c3']
const world = sharedWorld(() => ({ contributors: everybody, peers: [bravo.pinned, charlie.pinned] }))

/** What the carriers act as. */
const carrier = () => world().as({ subject: 'role:site', roles: ['service'], tenant: '*' })

async function invited(policy: AskedPolicy, invite = ['bravo', 'charlie']) {
  const person = await operatorOf(world())
  const { id } = await person.ok(create, { ...asked(policy), classification: shared, invite })
  return delivered(person, id)
}

function fieldsOf(session_id: string, pair_score: number, [accuracy, credibility] = [1, 1]) {
  return { session_id, pair_score, accuracy: accuracy ?? 1, credibility: credibility ?? 1, classification: sharedLabel }
}

const share = fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ min: 0, max: 1, noNaN: true }))
const sets = fc
  .tuple(
    ...everybody.map((who) => fc.record({ who: fc.constant(who), score: share, accuracy: share, credibility: share })),
  )
  .chain((all) => fc.subarray(all, { minLength: 2 }))
  .chain((set) => fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length })))

test('a set fed partly by peers, in any order, gives what it gives locally, to the bit', async () => {
  await fc.assert(
    fc.asyncProperty(sets, combinationMethods, async ([set, shuffled], combination_method) => {
      const policy = { m: set.length, n: set.length, combination_method }
      const [person, service] = [await operatorOf(world()), await carrier()]
      const local = await person.ok(create, asked(policy))
      for (const { who, score, accuracy, credibility } of set) {
        await person.ok(contribute, { id: local.id, ...opinion(who, score, [accuracy, credibility]) })
      }
      const mixed = await invited(policy)
      for (const { who, score, accuracy, credibility } of shuffled) {
        const peer = [bravo, charlie].find(({ tenant_id }) => tenant_id === who)
        const given = { ...opinion(who, score, [accuracy, credibility]), classification: shared }
        const fields = fieldsOf(mixed.id, score, [accuracy, credibility])
        if (peer) await service.ok(federate, await peer.message('contribution', fields))
        else await person.ok(contribute, { id: mixed.id, ...given })
      }
      const [one, other] = [await person.ok(get, { id: local.id }), await person.ok(get, { id: mixed.id })]
      expect(other.result).toStrictEqual(one.result)
      expect([other.state, other.decision, other.reason]).toEqual([one.state, one.decision, one.reason])
      const opinions = set.map(({ who, score, ...rest }) => ({ contributor_id: who, pair_score: score, ...rest }))
      expect(one.result).toStrictEqual(JSON.parse(JSON.stringify(combine(combination_method, opinions))))
    }),
    { numRuns, seed: 11, endOnFailure: true },
  )
})

describe('of one source, a lower (epoch, seq) never supersedes a higher', () => {
  test.each<{ told: string; arrivals: [number, number, number][]; stands: number }>([
    {
      told: 'an older number arrives last',
      arrivals: [
        [1, 5, 0.9],
        [1, 3, 0.1],
      ],
      stands: 0.9,
    },
    {
      told: 'an older epoch arrives last',
      arrivals: [
        [2, 1, 0.9],
        [1, 9, 0.1],
      ],
      stands: 0.9,
    },
    {
      told: 'a newer epoch begins at one',
      arrivals: [
        [1, 9, 0.1],
        [2, 1, 0.9],
      ],
      stands: 0.9,
    },
    {
      told: 'the same is said again later, and what came between arrives last',
      arrivals: [
        [1, 1, 0.9],
        [1, 3, 0.9],
        [1, 2, 0.1],
      ],
      stands: 0.9,
    },
  ])('$told', async ({ arrivals, stands }) => {
    const { id } = await invited({ m: 3, n: 3 })
    const service = await carrier()
    for (const [epoch, seq, score] of arrivals) {
      const fields = fieldsOf(id, score)
      await service.ok(federate, await bravo.message('contribution', fields, { epoch, seq }))
    }
    const { items } = await service.ok(recordOf, { id })
    expect(items.filter(({ standing }) => standing).map(({ pair_score }) => pair_score)).toEqual([stands])
    expect(items).toHaveLength(arrivals.length)
  })
})

test('a message that is delivered again changes nothing, and its lineage is kept', async () => {
  const { id } = await invited({ m: 3, n: 3 })
  const service = await carrier()
  const fields = fieldsOf(id, 0.9)
  const parent = 'ab'.repeat(32)
  const message = await bravo.message('contribution', fields, { parent_block_ids: [parent] })
  const before = await service.ok(federate, message)
  expect(await service.ok(federate, message)).toMatchObject({
    contributions: 1,
    version: before.version,
  })
  const { items } = await service.ok(recordOf, { id })
  expect(items[0]).toMatchObject({
    contributor_id: 'tenant-b',
    signer_key_id: bravo.pinned.keys[0]?.kid,
    submitted_by: 'peer:bravo',
    federation: { transport: 'filedrop', peer: 'bravo', parent_block_ids: [parent] },
  })
})

type Fields = ReturnType<typeof fieldsOf>
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
  { told: 'flat JSON', make: async (fields) => fields },
  { told: 'flat JSON beside a message', make: async (fields) => ({ ...fields, ...(await signedBy(fields)) }) },
  {
    told: 'an envelope as text',
    make: (fields) => altered(fields, ({ envelope }) => ({ envelope: JSON.stringify(envelope) })),
  },
  { told: 'an envelope without signatures', make: (fields) => altered(fields, () => ({ envelope: {} })) },
  { told: 'a body as JSON', make: (fields) => altered(fields, () => ({ body: fields })) },
  { told: 'a body that is not base64url', make: (fields) => altered(fields, () => ({ body: '{"data":1}' })) },
  { told: 'signed data with a field too many', make: (fields) => signedBy({ ...fields, weight: 9 }) },
  { told: 'signed data out of range', make: (fields) => signedBy({ ...fields, accuracy: 2 }) },
  { told: 'a body of another schema', make: (fields) => signedBy(fields, {}, bravo, { schema: 'consensus.other/1' }) },
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
    const session = await invited({ m: 2, n: 3 }, invite)
    const [service, witness] = [await carrier(), await operatorOf(world())]
    const refused = await service.ask(federate, (await make(fieldsOf(session.id, 0.9))) as FederationMessage)
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
  const { id } = await invited({ m: 2, n: 3 })
  const service = await carrier()
  const late = { created: time(-90 * minutes), not_after: time(-14 * minutes) }
  expect(await service.ok(federate, await signedBy(fieldsOf(id, 0.9), late))).toMatchObject({ contributions: 1 })
  const early = { created: time(14 * minutes) }
  const taken = await service.ok(federate, await signedBy(fieldsOf(id, 0.8), early, charlie))
  expect(taken).toMatchObject({ contributions: 2 })
})

test('new contributions of peers are counted by transport and peer; repeats and refusals are not', async () => {
  const { id } = await invited({ m: 2, n: 2 })
  const service = await carrier()
  const read = async () => {
    const { text } = await world().call('consensus', 'GET', '/api/v2/metrics', undefined, service)
    return Number(/^federation_contribution_total\{transport="filedrop",peer="charlie"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  const before = await read()
  const message = await signedBy(fieldsOf(id, 0.9), {}, charlie)
  await service.ok(federate, message)
  expect(await read()).toBe(before + 1)
  await service.ok(federate, message)
  await service.refusal(federate, await signedBy(fieldsOf(id, 0.8), { receiver_tenant_id: 'tenant-z' }, charlie))
  expect(await read()).toBe(before + 1)
  await service.ok(federate, await signedBy(fieldsOf(id, 0.7), {}, charlie))
  expect(await read()).toBe(before + 2)
})

test('a session of another tenant takes no message that is addressed to this one', async () => {
  const person = await world().as({ subject: 'olga', roles: ['operator'], tenant: 'tenant-z' })
  const { id, version } = await person.ok(create, { ...asked({ m: 1, n: 2 }) })
  expect(await (await carrier()).refusal(federate, await signedBy(fieldsOf(id, 0.9)))).toBe('not_your_tenant')
  expect(await person.ok(get, { id })).toMatchObject({ version, contributions: 0 })
})
