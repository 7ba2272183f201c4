// What must not get in, nor out: altered files, foreign keys, uninvited sites, closed sessions, labels above the ceiling.
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { cancel } from '../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import { list as listSessions } from '../../daemon/roles/consensus/session/list.ts'
import { type PackagedSite, pin } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { bring, carry, type Parcel, quarantined, type Reason, type Road, sessionIn } from './courier.ts'
import { ask, carryUntil, channelOf, inState, parcelOf, seen, shared, spoken, type Two, twoSites } from './question.ts'

let two: Two
let charlie: PackagedSite
beforeAll(async () => {
  two = await twoSites('charlie')
  const third = two.world.sites.charlie
  if (!third) throw new Error('three sites were made')
  charlie = third
  await Promise.all([two.alpha.start(), two.bravo.start(), charlie.start()])
})
afterAll(() => two?.world.end())

/** Brings something and waits for its reason to lie in quarantine. */
async function refusedOn(road: Road, parcel: Parcel): Promise<Reason> {
  const before = quarantined(road).length
  bring(road, [parcel])
  return until(() => quarantined(road)[before])
}

/** How many messages this site has made for the peer. */
async function sentTo(person: Parameters<typeof channelOf>[0], peer: string): Promise<number> {
  return (await channelOf(person, peer, 'out')).highest_seq
}

async function applied(road: Road, id: string, parcel: Parcel): Promise<void> {
  bring(road, [parcel])
  await inState(two.atAlpha, id, 'RATIFIED')
}

test('an altered body is put away, and the channel goes on; unaltered, it gets in', async () => {
  const { atAlpha, back } = two
  const { id, parcel } = await spoken(two)
  const body = Buffer.from(parcel.body.toString('utf8').replace('0.92', '0.12'))
  expect(body).toHaveLength(parcel.body.length)
  expect(await refusedOn(back, { ...parcel, body })).toMatchObject({ reason: 'BODY_DIGEST' })
  expect(await seen(atAlpha, id)).toMatchObject({ state: 'PENDING_QUORUM', contributions: 1 })
  const next = await spoken(two)
  await applied(back, next.id, next.parcel)
  await applied(back, id, parcel)
  expect(await channelOf(atAlpha, 'bravo', 'in')).toMatchObject({ state: 'open' })
})

test.each([
  ['UNKNOWN_KEY', (own: string) => own],
  ['BAD_SIG', (_: string, pinned: string) => pinned],
])('an envelope signed by a key that is not pinned: %s', async (reason, kidOf) => {
  const { back } = two
  const { id, parcel } = await spoken(two)
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
  expect(await refusedOn(back, { ...parcel, env })).toMatchObject({ reason })
  expect((await seen(two.atAlpha, id))?.state).toBe('PENDING_QUORUM')
  await applied(back, id, parcel)
})

test('a contribution of a site that was not invited is refused, and the reason file says so', async () => {
  const { id } = await spoken(two)
  const label = {
    policy: 'DEMO',
    level: 'RESTRICTED',
    categories: [],
    releasable_to: ['alpha', 'charlie'],
    originator: 'charlie',
  }
  const body = { session_id: id, pair_score: 0.01, accuracy: 1, credibility: 1, classification: label }
  const words = ['filedrop', 'send', 'alpha', '--kind', 'contribution', '--schema', 'consensus.contribution/1']
  const asked = [...words, '--classification', 'RESTRICTED', '--releasable-to', 'alpha,charlie']
  await charlie.answered(asked, JSON.stringify(body))
  const road = { from: charlie, to: two.alpha }
  const parcel = await parcelOf(road, id)
  expect(await refusedOn(road, parcel)).toMatchObject({ reason: 'REFUSED', code: 'not_contributor', seq: 1 })
  expect(await seen(two.atAlpha, id)).toMatchObject({ contributions: 1, state: 'PENDING_QUORUM' })
  // It has been judged: the same once more is a duplicate, and no second case.
  bring(road, [parcel])
  await until(async () => (await channelOf(two.atAlpha, 'charlie', 'in')).duplicates === 1)
  expect(quarantined(road)).toHaveLength(1)
})

test('an opinion that arrives after its session was withdrawn is refused as closed', async () => {
  const { atAlpha, atBravo, there, back } = two
  const { id, parcel } = await spoken(two)
  await atAlpha.ok(cancel, { id })
  expect(await refusedOn(back, parcel)).toMatchObject({ reason: 'REFUSED', code: 'session_closed' })
  expect(await seen(atAlpha, id)).toMatchObject({ contributions: 1, state: 'WITHDRAWN' })
  await carryUntil(there, async () => (await seen(atBravo, id))?.state === 'WITHDRAWN')
})

test('what is labelled above the ceiling, or for others, is refused before anything is made or queued', async () => {
  const { alpha, atAlpha } = two
  const before = [await sentTo(atAlpha, 'bravo'), await atAlpha.ok(listSessions, {})]
  const asked = { lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, invite: ['bravo'] }
  const labels = [{ ...shared, level: 'SECRET' }, { ...shared, releasable_to: ['alpha'] }, 'UNCLASSIFIED']
  for (const classification of labels)
    expect(await atAlpha.refusal(create, { ...asked, classification })).toBe('label_denied')
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
  const sent = await alpha.platform([...words, '--classification', 'SECRET'], '{"seen":1}')
  expect(sent).toMatchObject({ exit: 3, stdout: '' })
  expect(sent.stderr).toContain('ceiling')
  expect([await sentTo(atAlpha, 'bravo'), await atAlpha.ok(listSessions, {})]).toEqual(before)
})

test('an opinion labelled above its session is refused where it is given, and nothing is sent', async () => {
  const { atAlpha, atBravo, there } = two
  const id = await ask(atAlpha, 0.94)
  await carryUntil(there, () => seen(atBravo, id))
  const before = [await sentTo(atBravo, 'alpha'), await seen(atBravo, id)]
  const opinion = { id, contributor_id: 'bob', signer_key_id: 'bob-1', pair_score: 0.9, accuracy: 1, credibility: 1 }
  for (const level of ['CONFIDENTIAL', 'SECRET']) {
    const classification = { ...shared, level }
    expect(await atBravo.refusal(contribute, { ...opinion, classification })).toBe('label_denied')
  }
  expect([await sentTo(atBravo, 'alpha'), await seen(atBravo, id)]).toEqual(before)
})

test('a peer that is unpinned while both run: nothing gets in or out until it is pinned again', async () => {
  const { alpha, bravo, atAlpha, back } = two
  const { id, parcel } = await spoken(two)
  await alpha.answered(['peers', 'remove', 'bravo', '--yes'])
  bring(back, [parcel])
  const given = { lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, classification: shared, invite: ['bravo'] }
  expect(await atAlpha.refusal(create, given)).toBe('label_denied')
  // The channel is known until the process ends: it says that it is stopped, and why.
  await until(async () => (await channelOf(atAlpha, 'bravo', 'in')).state === 'stopped')
  expect(await channelOf(atAlpha, 'bravo', 'in')).toMatchObject({
    backlog: 1,
    detail: expect.stringContaining('not pinned'),
  })
  expect(await seen(atAlpha, id)).toMatchObject({ contributions: 1 })
  await pin(alpha, bravo)
  await inState(atAlpha, id, 'RATIFIED')
})

test('a key that is given up: what it signed before is not taken any more, what its successor signs is', async () => {
  const { alpha, bravo, back, atBravo } = two
  const old = await spoken(two)
  const { items } = await bravo.answered(['keys', 'list'])
  const { kid } = items.find((key: { use: string; status: string }) => key.use === 'message' && key.status === 'active')
  await bravo.answered(['keys', 'generate', '--use', 'message'])
  await bravo.answered(['keys', 'revoke', kid, '--yes'])
  const renewed: PackagedSite = { ...bravo, keys: `${bravo.keys}.renewed` }
  expect(await bravo.platform(['keys', 'export', '--out', renewed.keys])).toMatchObject({ exit: 0 })
  await alpha.answered(['peers', 'remove', 'bravo', '--yes'])
  await pin(alpha, renewed)
  expect(await refusedOn(back, old.parcel)).toMatchObject({ reason: 'UNKNOWN_KEY' })
  const fresh = await spoken(two)
  await applied(back, fresh.id, fresh.parcel)
  expect((await seen(atBravo, old.id))?.state).toBe('PENDING_QUORUM')
  expect(carry(back).filter((each) => sessionIn(each) === old.id)).toEqual([])
})

test('after all that the records of every site are whole', async () => {
  for (const site of [two.alpha, two.bravo, charlie]) {
    expect(await site.answered(['audit', 'verify'])).toMatchObject({ whole: true })
    expect(await site.answered(['store', 'check'])).toMatchObject({ sound: true })
  }
})
