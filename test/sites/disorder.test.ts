// Faults on the way between two sites that trust each other: repeats, another order, delays.
import { expect } from 'vitest'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import {
  type CourierParcel,
  type CourierRoute,
  deliverParcels,
  pickUpParcels,
  readSessionId,
} from '../support/site/courier.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import {
  carryUntil,
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  waitForState,
  waitUntilDelivered,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest()

/** All parcels of a road, once there are so many. */
async function collectParcels(road: CourierRoute, count: number): Promise<CourierParcel[]> {
  const parcels: CourierParcel[] = []
  return waitUntil(() => {
    parcels.push(...pickUpParcels(road))
    return parcels.length >= count && parcels
  })
}

function waitForChannel(person: CheckedClient, peer: string, wanted: Partial<Awaited<ReturnType<typeof findChannel>>>) {
  return waitUntil(async () => {
    const channel = await findChannel(person, peer, 'in')
    return Object.entries(wanted).every(([name, value]) => Reflect.get(channel, name) === value) && channel
  })
}

async function openSessions(pair: PackagedSitePair, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let each = 0; each < count; each++) ids.push(await openInvitedSession(pair.atAlpha, 0.94))
  return ids
}

test('counts a message carried twice, and changes nothing', async ({ pair }) => {
  const { atAlpha, atBravo, toBravo: there, toAlpha: back } = pair
  const [id = ''] = await openSessions(pair, 1)
  const invitation = await collectParcels(there, 1)
  deliverParcels(there, invitation)
  const invited = await waitForState(atBravo, id, 'PROPOSED')
  deliverParcels(there, invitation)
  await waitForChannel(atBravo, 'alpha', { duplicates: 1, backlog: 0 })
  expect(await findSession(atBravo, id)).toEqual(invited)

  await contributeOpinion(atBravo, id, 'bob', 0.92)
  const contribution = await collectParcels(back, 1)
  deliverParcels(back, contribution)
  await waitForState(atAlpha, id, 'RATIFIED')
  const before = await waitUntilDelivered(atAlpha, id)
  for (const duplicates of [1, 2, 3]) {
    deliverParcels(back, contribution)
    await waitForChannel(atAlpha, 'bravo', { duplicates, backlog: 0 })
  }
  expect(await findSession(atAlpha, id)).toEqual(before)
  expect((await atAlpha.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)).toEqual([
    'alice',
    'bravo',
  ])
  await waitForChannel(atAlpha, 'bravo', { received: 1, quarantined: 0, gaps: 0 })
  await carryUntil(there, async () => (await findSession(atBravo, id))?.state === 'RATIFIED')
})

test('backwards and with one missing, what has an order waits for it, and what has none does not', async ({ pair }) => {
  const { atAlpha, atBravo, toBravo: there, toAlpha: back } = pair
  const ids = await openSessions(pair, 4)
  const known = async (person: CheckedClient) =>
    new Map(await Promise.all(ids.map(async (id) => [id, (await findSession(person, id))?.state] as const)))
  const all = (state: string) => new Map(ids.map((id) => [id, state]))

  // Numbered as they were sent, which may differ from the order of the requests.
  const [one, second, ...others] = await collectParcels(there, 4)
  if (!one || !second) throw new Error('four were collected')
  deliverParcels(there, [...others.toReversed(), one])
  await waitForChannel(atBravo, 'alpha', { gaps: 1, backlog: 2 })
  expect([...(await known(atBravo))].filter(([, state]) => state)).toEqual([[readSessionId(one), 'PROPOSED']])
  deliverParcels(there, [second])
  await waitForChannel(atBravo, 'alpha', { gaps: 0, backlog: 0 })
  expect(await known(atBravo)).toEqual(all('PROPOSED'))

  for (const id of ids) await contributeOpinion(atBravo, id, 'bob', 0.92)
  const answers = await collectParcels(back, 4)
  const [late] = answers.splice(1, 1)
  if (!late) throw new Error('four were collected')
  deliverParcels(back, answers.toReversed())
  await waitForChannel(atAlpha, 'bravo', { gaps: 1, backlog: 0 })
  expect(await known(atAlpha)).toEqual(all('RATIFIED').set(readSessionId(late), 'PENDING_QUORUM'))
  deliverParcels(back, [late])
  await waitForChannel(atAlpha, 'bravo', { gaps: 0, backlog: 0 })
  expect(await known(atAlpha)).toEqual(all('RATIFIED'))
  await carryUntil(there, async () => [...(await known(atBravo)).values()].every((state) => state === 'RATIFIED'))
})

test('after all that, the records of both are whole, and no channel has lost anything', async ({ pair }) => {
  const { alpha, bravo, atAlpha, atBravo } = pair
  for (const site of [alpha, bravo]) expect(await site.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
  const [toBravo, toAlpha] = [await findChannel(atAlpha, 'bravo', 'out'), await findChannel(atBravo, 'alpha', 'out')]
  await waitForChannel(atBravo, 'alpha', { received: toBravo.sent, highest_seq: toBravo.sent, gaps: 0, quarantined: 0 })
  await waitForChannel(atAlpha, 'bravo', { received: toAlpha.sent, highest_seq: toAlpha.sent, gaps: 0, quarantined: 0 })
})
