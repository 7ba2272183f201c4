// Messages of a peer that a courier brings by REST: the checks, the numbers and the quarantine of the channel judge them.
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list as channels } from '../../../daemon/roles/site/channel/list.ts'
import { list as quarantine } from '../../../daemon/roles/site/quarantine/list.ts'
import type { FederationMessage } from '../../../daemon/shared/federation-message/federation-message.ts'
import { quorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import { createOperator, startConsensusSite } from './consensus-site.ts'
import { buildOpinionFields, openInvitedSession } from './federated-session.ts'
import { createPeerSite, type PeerSite, sharedLabel } from './peer-site.ts'

const peers: PeerSite[] = []
afterAll(() => {
  for (const peer of peers) peer.remove()
})

const invited = 'ses_00000000000000000000000000000001'
const invitedPolicy = quorumPolicy.parse({ m: 1, n: 2 })

const prevOf = ({ envelope }: FederationMessage) => sha384(Buffer.from(envelope.payload, 'base64url'))

async function setUp() {
  const bravo = await createPeerSite('bravo', 'tenant-b')
  peers.push(bravo)
  const own = await startConsensusSite({ peers: [bravo.pinned] })
  onTestFinished(() => own.end())
  const { id } = await openInvitedSession(own, { m: 2, n: 2 }, ['bravo'])
  const person = await createOperator(own)
  const message = (score: number, changes: Parameters<PeerSite['message']>[2] = {}, session_id = id) =>
    bravo.message('contribution', buildOpinionFields(session_id, score), changes)
  const signInvitation = (changes: Parameters<PeerSite['message']>[2]) =>
    bravo.message(
      'invitation',
      { session_id: invited, lens_id: 'lens-1', lens_version: '3', policy: invitedPolicy, classification: sharedLabel },
      changes,
    )
  return {
    ...{ id, message, person, signInvitation },
    courier: await own.as({ subject: 'svc:courier', roles: ['service'] }),
    countContributions: async () => (await person.ok(get, { id })).contributions,
    listReasons: async () => (await person.ok(quarantine, { peer: 'bravo' })).items.map(({ reason }) => reason),
    readIncoming: async () => (await person.ok(channels, {})).items.find(({ direction }) => direction === 'in'),
  }
}

test('a message counts once, under its number, and a repeat finds it applied', async () => {
  const { courier, message, countContributions, readIncoming, id } = await setUp()
  const first = await message(0.9)
  expect(await courier.ok(federate, first)).toMatchObject({ id, contributions: 1 })
  expect(await courier.ok(federate, first)).toMatchObject({ id, contributions: 1 })
  expect(await countContributions()).toBe(1)
  expect(await readIncoming()).toMatchObject({ highest_seq: 1, received: 1 })
})

test('contributions may overtake each other: the missing number is known, and the later one stands', async () => {
  const { courier, message, person, readIncoming, id } = await setUp()
  const first = await message(0.9)
  const second = await message(0.8, { prev: prevOf(first) })
  expect(await courier.refusal(federate, second)).toBe(200)
  expect(await readIncoming()).toMatchObject({ gaps: 1 })
  expect(await courier.refusal(federate, first)).toBe(200)
  expect(await readIncoming()).toMatchObject({ gaps: 0, received: 2 })
  const { items } = await person.ok(recordOf, { id })
  expect(items.map(({ pair_score, standing }) => [pair_score, standing])).toEqual([
    [0.8, true],
    [0.9, false],
  ])
})

test('an invitation waits for the messages before it, as on any carrier, and a repeat finds it applied', async () => {
  const { courier, message, person, signInvitation } = await setUp()
  const first = await message(0.9)
  const second = await signInvitation({ prev: prevOf(first) })
  expect(await courier.refusal(invite, second)).toBe('unavailable')
  expect(await person.refusal(get, { id: invited })).toBe('not_found')
  expect(await courier.refusal(federate, first)).toBe(200)
  expect(await courier.ok(invite, second)).toMatchObject({ id: invited, origin: { peer: 'bravo' } })
})

test('a message that fails a check is quarantined, and changes nothing', async () => {
  const { courier, message, countContributions, listReasons } = await setUp()
  const altered = { ...(await message(0.9)), body: Buffer.from('{"other":"body"}').toString('base64url') }
  expect(await courier.refusal(federate, altered)).toBe('signature_invalid')
  expect(
    await courier.refusal(
      federate,
      await message(0.9, { seq: 1, created: '2020-01-01T00:00:00.000Z', not_after: '2020-01-02T00:00:00.000Z' }),
    ),
  ).toBe('signature_invalid')
  expect(await countContributions()).toBe(0)
  expect(await listReasons()).toHaveLength(2)
})

test('a message that the role refuses is quarantined under its number, with the code of the refusal', async () => {
  const { courier, message, listReasons, readIncoming } = await setUp()
  const { id: other } = { id: 'ses_00000000_nobody' }
  const lost = await message(0.9, {}, other)
  expect(await courier.refusal(federate, lost)).not.toBe(200)
  expect(await courier.refusal(federate, lost)).not.toBe(200)
  expect(await listReasons()).toEqual(['REFUSED'])
  expect(await readIncoming()).toMatchObject({ highest_seq: 1 })
})

test('two statements under one number freeze the channel', async () => {
  const { courier, message, countContributions, readIncoming } = await setUp()
  expect(await courier.refusal(federate, await message(0.9))).toBe(200)
  expect(await courier.refusal(federate, await message(0.1, { seq: 1 }))).toBe('signature_invalid')
  expect(await readIncoming()).toMatchObject({ state: 'frozen' })
  expect(await countContributions()).toBe(1)
})

test('a message for another tenant, or of a stranger, reaches no channel', async () => {
  const { courier, message, listReasons } = await setUp()
  const stranger = await createPeerSite('eve', 'tenant-e')
  peers.push(stranger)
  expect(await courier.refusal(federate, await message(0.9, { receiver_tenant_id: 'tenant-c' }))).toBe(
    'not_your_tenant',
  )
  const foreign = await stranger.message('contribution', buildOpinionFields('ses_x', 0.5))
  expect(await courier.refusal(federate, foreign)).toBe('signature_invalid')
  expect(await listReasons()).toEqual([])
})
