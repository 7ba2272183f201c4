// Two packaged sites change their keys while messages are under way: none is lost or refused, but what a revoked key signed.
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { Json } from '../support/command/run-command.ts'
import {
  type CourierParcel,
  type CourierRoute,
  carryParcels,
  deliverParcels,
  listQuarantined,
  pickUpParcels,
} from '../support/site/courier.ts'
import type { FederatedSite } from '../support/site/packaged-federation.ts'
import { createPackagedPairTest, findDaemon } from '../support/site/packaged-pair-test.ts'
import {
  carryUntil,
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  waitForState,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest()

async function listMessageKeys(site: FederatedSite): Promise<Json[]> {
  const { items } = await site.runJson(['keys', 'list'])
  return items.filter(({ use, status }: Json) => use === 'message' && status === 'active')
}

const readPinned = (site: FederatedSite, name: string): Promise<Json> => site.runJson(['peers', 'show', name])
const readPinnedVersion = async (site: FederatedSite, name: string) =>
  (await readPinned(site, name)).key_set?.version ?? 0

async function repinPeer(site: FederatedSite): Promise<number[]> {
  const words = ['audit', 'list', '--role', 'site', '--action', 'site.peer.repin', '--limit', '50']
  const { items } = await site.runJson(words)
  return items.map(({ event }: Json) => event.detail.version).sort()
}

const parseStatement = (parcel: CourierParcel): Json =>
  JSON.parse(Buffer.from(JSON.parse(parcel.env.toString()).payload, 'base64url').toString())
const parseSignatures = (parcel: CourierParcel): Json[] => JSON.parse(parcel.env.toString()).signatures

/** Everything that is made ready on the road until there are so many parcels, in the hands of the courier. */
async function gatherParcels(
  road: CourierRoute,
  count: number,
  isWanted: (parcel: CourierParcel) => boolean = () => true,
): Promise<CourierParcel[]> {
  const gathered: CourierParcel[] = []
  return await waitUntil(() => {
    gathered.push(...pickUpParcels(road))
    return gathered.filter(isWanted).length >= count && gathered
  })
}
const isOfKind = (kind: string) => (parcel: CourierParcel) => parseStatement(parcel).kind === kind

test('a key is replaced while messages are under way: all arrive, in any order, signed by both keys from then on', async ({
  pair,
}) => {
  const { alpha, bravo, atAlpha, atBravo, toBravo, toAlpha } = pair
  const ids = [await openInvitedSession(atAlpha, 0.94), await openInvitedSession(atAlpha, 0.94)]
  const before = await gatherParcels(toBravo, 2, isOfKind('invitation'))
  const [old] = await listMessageKeys(alpha)
  const { created, retired, key_set } = await alpha.runJson(['keys', 'rotate', old.kid, '--algorithm', 'ML-DSA-87'])
  expect([key_set, retired.kid, retired.status]).toEqual([1, old.kid, 'active'])
  const [announcement] = (await gatherParcels(toBravo, 1, isOfKind('keys'))).filter(isOfKind('keys'))
  ids.push(await openInvitedSession(atAlpha, 0.94), await openInvitedSession(atAlpha, 0.94))
  const after = await gatherParcels(toBravo, 2, isOfKind('invitation'))
  for (const parcel of before) expect(parseSignatures(parcel)).toHaveLength(1)
  for (const parcel of after) expect(parseSignatures(parcel)).toHaveLength(2)
  // The last ones first: what was signed by the new key comes before the set that tells of it.
  deliverParcels(toBravo, after)
  await waitUntil(async () => (await findChannel(atBravo, 'alpha', 'in')).held >= 2)
  if (announcement) deliverParcels(toBravo, [announcement])
  await waitUntil(async () => (await readPinnedVersion(bravo, 'alpha')) === 1)
  deliverParcels(toBravo, before)
  for (const id of ids) {
    await carryUntil(toBravo, () => findSession(atBravo, id))
    await contributeOpinion(atBravo, id, 'bob', 0.92)
  }
  for (const id of ids) {
    await waitUntil(async () => {
      carryParcels(toAlpha)
      carryParcels(toBravo)
      return (await findSession(atBravo, id))?.state === 'RATIFIED'
    })
    await waitForState(atAlpha, id, 'RATIFIED')
  }
  expect([listQuarantined(toBravo), listQuarantined(toAlpha)]).toEqual([[], []])
  expect((await findChannel(atBravo, 'alpha', 'in')).gaps).toBe(0)
  const { keys } = await readPinned(bravo, 'alpha')
  expect(keys.filter(({ use }: Json) => use === 'message')).toMatchObject([
    { kid: old.kid, status: 'active', not_after: retired.not_after },
    { kid: created.kid, status: 'active', algorithm: 'ML-DSA-87' },
  ])
  expect(await repinPeer(bravo)).toEqual([1])
})

test.for(['received', 'delivered'])(
  'a receiver that dies at "%s" takes the set once all the same',
  async (point, { pair }) => {
    const { alpha, bravo, toBravo } = pair
    await findDaemon(pair, bravo).stop()
    const expected = (await readPinnedVersion(bravo, 'alpha')) + 1
    const newest = (await listMessageKeys(alpha)).at(-1)
    expect(await alpha.runJson(['keys', 'rotate', newest.kid])).toMatchObject({ key_set: expected })
    const parcels = await gatherParcels(toBravo, 1, isOfKind('keys'))
    const dying = await bravo.startUntil(point)
    deliverParcels(toBravo, parcels)
    await waitUntil(() => dying.hasEnded())
    expect(await readPinnedVersion(bravo, 'alpha')).toBe(point === 'received' ? expected - 1 : expected)
    pair.daemons.set(bravo, await bravo.start())
    await waitUntil(async () => (await readPinnedVersion(bravo, 'alpha')) === expected)
    await waitUntil(() => fs.readdirSync(path.join(bravo.dir, 'filedrop/alpha/in/work')).length === 0)
    expect(listQuarantined(toBravo)).toEqual([])
    const versions = await repinPeer(bravo)
    expect(versions).toEqual([...Array(expected).keys()].map((each) => each + 1))
  },
)

test('where the set asks for two signatures, one is too few', async ({ pair }) => {
  const { alpha, bravo, atAlpha, atBravo, toBravo } = pair
  const draft = path.join(pair.world.dir, 'two.json')
  await alpha.runJson(['keys', 'set', 'draft', '--message-threshold', '2', '--out', draft])
  await alpha.runJson(['keys', 'set', 'sign', draft, '--yes'])
  const set = await alpha.runJson(['keys', 'set', 'publish', draft, '--yes'])
  await carryUntil(toBravo, async () => (await readPinnedVersion(bravo, 'alpha')) === set.version)
  expect(await readPinned(bravo, 'alpha')).toMatchObject({ threshold: 2 })
  const id = await openInvitedSession(atAlpha, 0.94)
  const parcels = await gatherParcels(toBravo, 1, isOfKind('invitation'))
  const stripped = parcels.map((parcel) => {
    const envelope = JSON.parse(parcel.env.toString())
    return { ...parcel, env: Buffer.from(JSON.stringify({ ...envelope, signatures: envelope.signatures.slice(0, 1) })) }
  })
  deliverParcels(toBravo, stripped)
  await waitUntil(() => listQuarantined(toBravo).length === stripped.length)
  expect(listQuarantined(toBravo).map(({ reason }) => reason)).toEqual(stripped.map(() => 'THRESHOLD'))
  // Its number is still open: the whole message comes, and counts.
  deliverParcels(toBravo, parcels)
  await waitUntil(() => findSession(atBravo, id))
})

test('a compromised key: its messages are KEY_REVOKED at once, also those under way, and the next key serves', async ({
  pair,
}) => {
  const { alpha, bravo, atAlpha, atBravo, toBravo, toAlpha } = pair
  const [first, second, third] = [
    await openInvitedSession(atAlpha, 0.94),
    await openInvitedSession(atAlpha, 0.94),
    await openInvitedSession(atAlpha, 0.94),
  ]
  for (const id of [first, second, third]) await carryUntil(toBravo, () => findSession(atBravo, id))
  await contributeOpinion(atBravo, first, 'bob', 0.92)
  const underWay = await gatherParcels(toAlpha, 1, isOfKind('contribution'))
  const [stolen] = await listMessageKeys(bravo)
  const revoked = await bravo.runJson(['keys', 'revoke', stolen.kid, '--replace', '--yes'])
  expect(revoked).toMatchObject({ status: 'revoked', key_set: 1 })
  // Announced by another way than the channel, which the thief can use.
  await alpha.runJson(['peers', 'revoke', 'bravo', stolen.kid, '--yes'])
  deliverParcels(toAlpha, underWay)
  await waitUntil(() => listQuarantined(toAlpha).length === underWay.length)
  expect(listQuarantined(toAlpha).map(({ reason }) => reason)).toEqual(underWay.map(() => 'KEY_REVOKED'))
  expect(await findSession(atAlpha, first)).toMatchObject({ state: 'PENDING_QUORUM', contributions: 1 })

  const file = path.join(pair.world.dir, 'bravo-set.json')
  await bravo.runJson(['keys', 'set', 'show', '--out', file])
  expect(await alpha.runJson(['peers', 'update', 'bravo', '--keys', file])).toMatchObject({ taken: 1 })
  await contributeOpinion(atBravo, second, 'bob', 0.92)
  await carryUntil(toAlpha, async () => (await findSession(atAlpha, second))?.state === 'RATIFIED')
  expect(listQuarantined(toAlpha)).toHaveLength(underWay.length)

  // A number that is still open does not help it.
  await contributeOpinion(atBravo, third, 'bob', 0.92)
  const [parcel] = await gatherParcels(toAlpha, 1, isOfKind('contribution'))
  const [old] = underWay
  if (!parcel || !old) throw new Error('there is no parcel')
  const forged = { ...old, stem: parcel.stem }
  deliverParcels(toAlpha, [forged])
  await waitUntil(() => listQuarantined(toAlpha).length === underWay.length + 1)
  expect(listQuarantined(toAlpha).at(-1)).toMatchObject({ reason: 'KEY_REVOKED' })
  deliverParcels(toAlpha, [parcel])
  await waitForState(atAlpha, third, 'RATIFIED')
})
