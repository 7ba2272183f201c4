// Two packaged sites change their keys while messages are under way: none is lost or refused, but what a revoked key signed.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../support/command-line.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { bring, carry, type Parcel, pickUp, quarantined, type Road } from './courier.ts'
import { ask, carryUntil, channelOf, inState, say, seen, type Two, twoSites } from './question.ts'

let two: Two
let daemons: Daemon[]
beforeAll(async () => {
  two = await twoSites()
  daemons = await Promise.all([two.alpha.start(), two.bravo.start()])
})
afterAll(() => two?.world.end())

async function messageKeys(site: PackagedSite): Promise<Json[]> {
  const { items } = await site.answered(['keys', 'list'])
  return items.filter(({ use, status }: Json) => use === 'message' && status === 'active')
}

const pinned = (site: PackagedSite, name: string): Promise<Json> => site.answered(['peers', 'show', name])
const version = async (site: PackagedSite, name: string) => (await pinned(site, name)).key_set?.version ?? 0

async function repinned(site: PackagedSite): Promise<number[]> {
  const words = ['audit', 'list', '--role', 'site', '--action', 'site.peer.repin', '--limit', '50']
  const { items } = await site.answered(words)
  return items.map(({ event }: Json) => event.detail.version).sort()
}

const said = (parcel: Parcel): Json =>
  JSON.parse(Buffer.from(JSON.parse(parcel.env.toString()).payload, 'base64url').toString())
const signatures = (parcel: Parcel): Json[] => JSON.parse(parcel.env.toString()).signatures

/** Everything that is made ready on the road until there are so many parcels, in the hands of the courier. */
async function gather(
  road: Road,
  count: number,
  isWanted: (parcel: Parcel) => boolean = () => true,
): Promise<Parcel[]> {
  const gathered: Parcel[] = []
  return await until(() => {
    gathered.push(...pickUp(road))
    return gathered.filter(isWanted).length >= count && gathered
  })
}
const isOf = (kind: string) => (parcel: Parcel) => said(parcel).kind === kind

test('a key is replaced while messages are under way: all arrive, in whatever order, signed by both keys from then on', async () => {
  const { alpha, bravo, atAlpha, atBravo, there, back } = two
  const ids = [await ask(atAlpha, 0.94), await ask(atAlpha, 0.94)]
  const before = await gather(there, 2, isOf('invitation'))
  const [old] = await messageKeys(alpha)
  const { created, retired, key_set } = await alpha.answered(['keys', 'rotate', old.kid, '--algorithm', 'ML-DSA-87'])
  expect([key_set, retired.kid, retired.status]).toEqual([1, old.kid, 'active'])
  const [told] = (await gather(there, 1, isOf('keys'))).filter(isOf('keys'))
  ids.push(await ask(atAlpha, 0.94), await ask(atAlpha, 0.94))
  const after = await gather(there, 2, isOf('invitation'))
  for (const parcel of before) expect(signatures(parcel)).toHaveLength(1)
  for (const parcel of after) expect(signatures(parcel)).toHaveLength(2)
  // The last ones first: what was signed by the new key comes before the set that tells of it.
  bring(there, after)
  await until(async () => (await channelOf(atBravo, 'alpha', 'in')).held >= 2)
  if (told) bring(there, [told])
  await until(async () => (await version(bravo, 'alpha')) === 1)
  bring(there, before)
  for (const id of ids) {
    await carryUntil(there, () => seen(atBravo, id))
    await say(atBravo, id, 'bob', 0.92)
  }
  for (const id of ids) {
    await until(async () => {
      carry(back)
      carry(there)
      return (await seen(atBravo, id))?.state === 'RATIFIED'
    })
    await inState(atAlpha, id, 'RATIFIED')
  }
  expect([quarantined(there), quarantined(back)]).toEqual([[], []])
  expect((await channelOf(atBravo, 'alpha', 'in')).gaps).toBe(0)
  const { keys } = await pinned(bravo, 'alpha')
  expect(keys.filter(({ use }: Json) => use === 'message')).toMatchObject([
    { kid: old.kid, status: 'active', not_after: retired.not_after },
    { kid: created.kid, status: 'active', algorithm: 'ML-DSA-87' },
  ])
  expect(await repinned(bravo)).toEqual([1])
})

test.each(['received', 'delivered'])('a receiver that dies at "%s" takes the set once all the same', async (point) => {
  const { alpha, bravo, there } = two
  await daemons[1]?.stop()
  const expected = (await version(bravo, 'alpha')) + 1
  const newest = (await messageKeys(alpha)).at(-1)
  expect(await alpha.answered(['keys', 'rotate', newest.kid])).toMatchObject({ key_set: expected })
  const parcels = await gather(there, 1, isOf('keys'))
  const dying = await bravo.startUntil(point)
  bring(there, parcels)
  await until(() => dying.isGone())
  expect(await version(bravo, 'alpha')).toBe(point === 'received' ? expected - 1 : expected)
  daemons[1] = await bravo.start()
  await until(async () => (await version(bravo, 'alpha')) === expected)
  await until(() => fs.readdirSync(path.join(bravo.dir, 'filedrop/alpha/in/work')).length === 0)
  expect(quarantined(there)).toEqual([])
  const versions = await repinned(bravo)
  expect(versions).toEqual([...Array(expected).keys()].map((each) => each + 1))
})

test('where the set asks for two signatures, one is too few', async () => {
  const { alpha, bravo, atAlpha, atBravo, there } = two
  const draft = path.join(two.world.dir, 'two.json')
  await alpha.answered(['keys', 'set', 'draft', '--message-threshold', '2', '--out', draft])
  await alpha.answered(['keys', 'set', 'sign', draft, '--yes'])
  const set = await alpha.answered(['keys', 'set', 'publish', draft, '--yes'])
  await carryUntil(there, async () => (await version(bravo, 'alpha')) === set.version)
  expect(await pinned(bravo, 'alpha')).toMatchObject({ threshold: 2 })
  const id = await ask(atAlpha, 0.94)
  const parcels = await gather(there, 1, isOf('invitation'))
  const stripped = parcels.map((parcel) => {
    const envelope = JSON.parse(parcel.env.toString())
    return { ...parcel, env: Buffer.from(JSON.stringify({ ...envelope, signatures: envelope.signatures.slice(0, 1) })) }
  })
  bring(there, stripped)
  await until(() => quarantined(there).length === stripped.length)
  expect(quarantined(there).map(({ reason }) => reason)).toEqual(stripped.map(() => 'THRESHOLD'))
  // Its number is still open: the whole message comes, and counts.
  bring(there, parcels)
  await until(() => seen(atBravo, id))
})

test('a key that others may have: what it signed is KEY_REVOKED at once, also what is under way, and the next key serves', async () => {
  const { alpha, bravo, atAlpha, atBravo, there, back } = two
  const [first, second, third] = [await ask(atAlpha, 0.94), await ask(atAlpha, 0.94), await ask(atAlpha, 0.94)]
  for (const id of [first, second, third]) await carryUntil(there, () => seen(atBravo, id))
  await say(atBravo, first, 'bob', 0.92)
  const underWay = await gather(back, 1, isOf('contribution'))
  const [stolen] = await messageKeys(bravo)
  const revoked = await bravo.answered(['keys', 'revoke', stolen.kid, '--replace', '--yes'])
  expect(revoked).toMatchObject({ status: 'revoked', key_set: 1 })
  // Told by another way than the channel, which the thief can use.
  await alpha.answered(['peers', 'revoke', 'bravo', stolen.kid, '--yes'])
  bring(back, underWay)
  await until(() => quarantined(back).length === underWay.length)
  expect(quarantined(back).map(({ reason }) => reason)).toEqual(underWay.map(() => 'KEY_REVOKED'))
  expect(await seen(atAlpha, first)).toMatchObject({ state: 'PENDING_QUORUM', contributions: 1 })

  const file = path.join(two.world.dir, 'bravo-set.json')
  await bravo.answered(['keys', 'set', 'show', '--out', file])
  expect(await alpha.answered(['peers', 'update', 'bravo', '--keys', file])).toMatchObject({ taken: 1 })
  await say(atBravo, second, 'bob', 0.92)
  await carryUntil(back, async () => (await seen(atAlpha, second))?.state === 'RATIFIED')
  expect(quarantined(back)).toHaveLength(underWay.length)

  // Under a number that is still open it is no better.
  await say(atBravo, third, 'bob', 0.92)
  const [parcel] = await gather(back, 1, isOf('contribution'))
  const [old] = underWay
  if (!parcel || !old) throw new Error('there is no parcel')
  const forged = { ...old, stem: parcel.stem }
  bring(back, [forged])
  await until(() => quarantined(back).length === underWay.length + 1)
  expect(quarantined(back).at(-1)).toMatchObject({ reason: 'KEY_REVOKED' })
  bring(back, [parcel])
  await inState(atAlpha, third, 'RATIFIED')
})
