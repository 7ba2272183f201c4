// Messages that must not get in, nor out: altered files, foreign keys, uninvited sites, closed sessions, labels above the ceiling.
import path from 'node:path'
import { expect } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { cancel } from '../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import {
  type CourierParcel,
  type CourierRoute,
  carryParcels,
  deliverParcels,
  listQuarantined,
  type QuarantineReason,
  readSessionId,
} from '../support/site/courier.ts'
import { type FederatedSite, findSite, pinFederatedPeer } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import {
  answerInvitation,
  carryUntil,
  catchSessionParcel,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  sharedClassification,
  waitForState,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest({ otherSites: ['charlie'] })

let charlie: FederatedSite
test.beforeAll(async ({ pair }) => {
  charlie = findSite(pair.world, 'charlie')
})

/** Brings something and waits for its reason to lie in quarantine. */
async function waitForRefusal(road: CourierRoute, parcel: CourierParcel): Promise<QuarantineReason> {
  const before = listQuarantined(road).length
  deliverParcels(road, [parcel])
  return waitUntil(() => listQuarantined(road)[before])
}

/** The number of messages that this site has made for the peer. */
async function countSent(person: Parameters<typeof findChannel>[0], peer: string): Promise<number> {
  return (await findChannel(person, peer, 'out')).highest_seq
}

async function expectApplied(
  pair: PackagedSitePair,
  road: CourierRoute,
  id: string,
  parcel: CourierParcel,
): Promise<void> {
  deliverParcels(road, [parcel])
  await waitForState(pair.atAlpha, id, 'RATIFIED')
}

test('an altered body is put away, and the channel goes on; unaltered, it gets in', async ({ pair }) => {
  const { atAlpha, toAlpha } = pair
  const { id, parcel } = await answerInvitation(pair)
  const body = Buffer.from(parcel.body.toString('utf8').replace('0.92', '0.12'))
  expect(body).toHaveLength(parcel.body.length)
  expect(await waitForRefusal(toAlpha, { ...parcel, body })).toMatchObject({ reason: 'BODY_DIGEST' })
  expect(await findSession(atAlpha, id)).toMatchObject({ state: 'PENDING_QUORUM', contributions: 1 })
  const next = await answerInvitation(pair)
  await expectApplied(pair, toAlpha, next.id, next.parcel)
  await expectApplied(pair, toAlpha, id, parcel)
  expect(await findChannel(atAlpha, 'bravo', 'in')).toMatchObject({ state: 'open' })
})

test.for([
  ['UNKNOWN_KEY', (own: string) => own],
  ['BAD_SIG', (_: string, pinned: string) => pinned],
] as const)('an envelope signed by a key that is not pinned: %s', async ([reason, kidOf], { pair }) => {
  const { toAlpha } = pair
  const { id, parcel } = await answerInvitation(pair)
  const genuine = JSON.parse(parcel.env.toString('utf8'))
  const forger = joseSignatures({ dir: path.join(charlie.dir, 'keys') })
  const forged = await forger.sign('statement', Buffer.from(genuine.payload, 'base64url'))
  const headerOf = ({ signatures }: typeof genuine) =>
    JSON.parse(Buffer.from(signatures[0].protected, 'base64url').toString('utf8'))
  const header = headerOf(forged)
  const kid = kidOf(header.kid, headerOf(genuine).kid)
  const claimed = Buffer.from(JSON.stringify({ ...header, kid })).toString('base64url')
  const signatures = forged.signatures.map((each) => (kid === header.kid ? each : { ...each, protected: claimed }))
  const env = Buffer.from(`${JSON.stringify({ ...forged, signatures })}\n`)
  expect(await waitForRefusal(toAlpha, { ...parcel, env })).toMatchObject({ reason })
  expect((await findSession(pair.atAlpha, id))?.state).toBe('PENDING_QUORUM')
  await expectApplied(pair, toAlpha, id, parcel)
})

test('a contribution of a site that was not invited is refused, and the reason file says so', async ({ pair }) => {
  const { id } = await answerInvitation(pair)
  const label = {
    policy: 'DEMO',
    level: 'RESTRICTED',
    categories: [],
    releasable_to: ['alpha', 'charlie'],
    originator: 'charlie',
  }
  const body = { session_id: id, pair_score: 0.01, accuracy: 1, credibility: 1, classification: label }
  const words = ['filedrop', 'send', 'alpha', '--kind', 'contribution', '--schema', 'consensus.contribution/1']
  const command = [...words, '--classification', 'RESTRICTED', '--releasable-to', 'alpha,charlie']
  await charlie.runJson(command, JSON.stringify(body))
  const road = { from: charlie, to: pair.alpha }
  const parcel = await catchSessionParcel(road, id)
  expect(await waitForRefusal(road, parcel)).toMatchObject({ reason: 'REFUSED', code: 'not_contributor', seq: 1 })
  expect(await findSession(pair.atAlpha, id)).toMatchObject({ contributions: 1, state: 'PENDING_QUORUM' })
  // It has been judged: the same once more is a duplicate, and no second case.
  deliverParcels(road, [parcel])
  await waitUntil(async () => (await findChannel(pair.atAlpha, 'charlie', 'in')).duplicates === 1)
  expect(listQuarantined(road)).toHaveLength(1)
})

test('an opinion that arrives after its session was withdrawn is refused as closed', async ({ pair }) => {
  const { atAlpha, atBravo, toBravo, toAlpha } = pair
  const { id, parcel } = await answerInvitation(pair)
  await atAlpha.ok(cancel, { id })
  expect(await waitForRefusal(toAlpha, parcel)).toMatchObject({ reason: 'REFUSED', code: 'session_closed' })
  expect(await findSession(atAlpha, id)).toMatchObject({ contributions: 1, state: 'WITHDRAWN' })
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'WITHDRAWN')
})

test('refuses a message labelled above the ceiling, or for others, before anything is made or queued', async ({
  pair,
}) => {
  const { alpha, atAlpha } = pair
  const before = [await countSent(atAlpha, 'bravo'), await atAlpha.ok(listSessions, {})]
  const session = { lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, invite: ['bravo'] }
  const labels = [
    { ...sharedClassification, level: 'SECRET' },
    { ...sharedClassification, releasable_to: ['alpha'] },
    'UNCLASSIFIED',
  ]
  for (const classification of labels)
    expect(await atAlpha.refusal(create, { ...session, classification })).toBe('label_denied')
  const words = [
    'filedrop',
    'send',
    'bravo',
    '--kind',
    'signal',
    '--schema',
    'signal/1',
    '--releasable-to',
    'alpha,bravo',
  ]
  const sent = await alpha.run([...words, '--classification', 'SECRET'], '{"seen":1}')
  expect(sent).toMatchObject({ exit: 3, stdout: '' })
  expect(sent.stderr).toContain('ceiling')
  expect([await countSent(atAlpha, 'bravo'), await atAlpha.ok(listSessions, {})]).toEqual(before)
})

test('refuses an opinion labelled above its session at once, and sends nothing', async ({ pair }) => {
  const { atAlpha, atBravo, toBravo } = pair
  const id = await openInvitedSession(atAlpha, 0.94)
  await carryUntil(toBravo, () => findSession(atBravo, id))
  const before = [await countSent(atBravo, 'alpha'), await findSession(atBravo, id)]
  const opinion = { id, contributor_id: 'bob', signer_key_id: 'bob-1', pair_score: 0.9, accuracy: 1, credibility: 1 }
  for (const level of ['CONFIDENTIAL', 'SECRET']) {
    const classification = { ...sharedClassification, level }
    expect(await atBravo.refusal(contribute, { ...opinion, classification })).toBe('label_denied')
  }
  expect([await countSent(atBravo, 'alpha'), await findSession(atBravo, id)]).toEqual(before)
})

test('a peer that is unpinned while both run: nothing gets in or out until it is pinned again', async ({ pair }) => {
  const { alpha, bravo, atAlpha, toAlpha } = pair
  const { id, parcel } = await answerInvitation(pair)
  await alpha.runJson(['peers', 'remove', 'bravo', '--yes'])
  deliverParcels(toAlpha, [parcel])
  const session = {
    lens_id: 'l',
    lens_version: '1',
    policy: { m: 1, n: 1 },
    classification: sharedClassification,
    invite: ['bravo'],
  }
  expect(await atAlpha.refusal(create, session)).toBe('label_denied')
  // The channel is known until the process ends: it says that it is stopped, and why.
  const stopped = await waitUntil(async () => {
    const channel = await findChannel(atAlpha, 'bravo', 'in')
    return channel.state === 'stopped' && channel.backlog === 1 && channel
  })
  expect(stopped.detail).toContain('no longer pinned')
  expect(await findSession(atAlpha, id)).toMatchObject({ contributions: 1 })
  await pinFederatedPeer(alpha, bravo)
  await waitForState(atAlpha, id, 'RATIFIED')
})

test('a revoked key: its earlier messages are no longer accepted, those of its successor are', async ({ pair }) => {
  const { alpha, bravo, toAlpha, atBravo } = pair
  const old = await answerInvitation(pair)
  const { items } = await bravo.runJson(['keys', 'list'])
  const { kid } = items.find((key: { use: string; status: string }) => key.use === 'message' && key.status === 'active')
  await bravo.runJson(['keys', 'generate', '--use', 'message'])
  await bravo.runJson(['keys', 'revoke', kid, '--yes'])
  const renewed: FederatedSite = { ...bravo, keys: `${bravo.keys}.renewed` }
  expect(await bravo.run(['keys', 'export', '--out', renewed.keys])).toMatchObject({ exit: 0 })
  await alpha.runJson(['peers', 'remove', 'bravo', '--yes'])
  await pinFederatedPeer(alpha, renewed)
  expect(await waitForRefusal(toAlpha, old.parcel)).toMatchObject({ reason: 'UNKNOWN_KEY' })
  const fresh = await answerInvitation(pair)
  await expectApplied(pair, toAlpha, fresh.id, fresh.parcel)
  expect((await findSession(atBravo, old.id))?.state).toBe('PENDING_QUORUM')
  expect(carryParcels(toAlpha).filter((each) => readSessionId(each) === old.id)).toEqual([])
})

test('after all that the records of every site are whole', async ({ pair }) => {
  for (const site of [pair.alpha, pair.bravo, charlie]) {
    expect(await site.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
    expect(await site.runJson(['store', 'check'])).toMatchObject({ sound: true })
  }
})
