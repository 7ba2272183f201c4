// What goes wrong on the way between two sites that trust each other: too often, in another order, too late.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import type { Person } from '../support/person.ts'
import { until } from '../support/site-world.ts'
import { bring, type Parcel, pickUp, type Road, sessionIn } from './courier.ts'
import { ask, carryUntil, channelOf, delivered, inState, say, seen, type Two, twoSites } from './question.ts'

let two: Two
beforeAll(async () => {
  two = await twoSites()
  await Promise.all([two.alpha.start(), two.bravo.start()])
})
afterAll(() => two?.world.end())

/** All parcels of a road, once there are so many. */
async function collected(road: Road, count: number): Promise<Parcel[]> {
  const parcels: Parcel[] = []
  return until(() => {
    parcels.push(...pickUp(road))
    return parcels.length >= count && parcels
  })
}

function channelWith(person: Person, peer: string, wanted: Partial<Awaited<ReturnType<typeof channelOf>>>) {
  return until(async () => {
    const channel = await channelOf(person, peer, 'in')
    return Object.entries(wanted).every(([name, value]) => Reflect.get(channel, name) === value) && channel
  })
}

async function asked(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let each = 0; each < count; each++) ids.push(await ask(two.atAlpha, 0.94))
  return ids
}

test('what is carried twice is counted, and changes nothing', async () => {
  const { atAlpha, atBravo, there, back } = two
  const [id = ''] = await asked(1)
  const invitation = await collected(there, 1)
  bring(there, invitation)
  const invited = await inState(atBravo, id, 'PROPOSED')
  bring(there, invitation)
  await channelWith(atBravo, 'alpha', { duplicates: 1, backlog: 0 })
  expect(await seen(atBravo, id)).toEqual(invited)

  await say(atBravo, id, 'bob', 0.92)
  const contribution = await collected(back, 1)
  bring(back, contribution)
  await inState(atAlpha, id, 'RATIFIED')
  const before = await delivered(atAlpha, id)
  for (const duplicates of [1, 2, 3]) {
    bring(back, contribution)
    await channelWith(atAlpha, 'bravo', { duplicates, backlog: 0 })
  }
  expect(await seen(atAlpha, id)).toEqual(before)
  expect((await atAlpha.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)).toEqual([
    'alice',
    'bravo',
  ])
  await channelWith(atAlpha, 'bravo', { received: 1, quarantined: 0, gaps: 0 })
  await carryUntil(there, async () => (await seen(atBravo, id))?.state === 'RATIFIED')
})

test('backwards and with one missing, what has an order waits for it, and what has none does not', async () => {
  const { atAlpha, atBravo, there, back } = two
  const ids = await asked(4)
  const known = async (person: Person) =>
    new Map(await Promise.all(ids.map(async (id) => [id, (await seen(person, id))?.state] as const)))
  const all = (state: string) => new Map(ids.map((id) => [id, state]))

  // Numbered as they were sent, which need not be the order in which they were asked.
  const [one, second, ...others] = await collected(there, 4)
  if (!one || !second) throw new Error('four were collected')
  bring(there, [...others.toReversed(), one])
  await channelWith(atBravo, 'alpha', { gaps: 1, backlog: 2 })
  expect([...(await known(atBravo))].filter(([, state]) => state)).toEqual([[sessionIn(one), 'PROPOSED']])
  bring(there, [second])
  await channelWith(atBravo, 'alpha', { gaps: 0, backlog: 0 })
  expect(await known(atBravo)).toEqual(all('PROPOSED'))

  for (const id of ids) await say(atBravo, id, 'bob', 0.92)
  const said = await collected(back, 4)
  const [late] = said.splice(1, 1)
  if (!late) throw new Error('four were collected')
  bring(back, said.toReversed())
  await channelWith(atAlpha, 'bravo', { gaps: 1, backlog: 0 })
  expect(await known(atAlpha)).toEqual(all('RATIFIED').set(sessionIn(late), 'PENDING_QUORUM'))
  bring(back, [late])
  await channelWith(atAlpha, 'bravo', { gaps: 0, backlog: 0 })
  expect(await known(atAlpha)).toEqual(all('RATIFIED'))
  await carryUntil(there, async () => [...(await known(atBravo)).values()].every((state) => state === 'RATIFIED'))
})

test('after all that, the records of both are whole, and no channel has lost anything', async () => {
  const { alpha, bravo, atAlpha, atBravo } = two
  for (const site of [alpha, bravo]) expect(await site.answered(['audit', 'verify'])).toMatchObject({ whole: true })
  const [toBravo, toAlpha] = [await channelOf(atAlpha, 'bravo', 'out'), await channelOf(atBravo, 'alpha', 'out')]
  await channelWith(atBravo, 'alpha', { received: toBravo.sent, highest_seq: toBravo.sent, gaps: 0, quarantined: 0 })
  await channelWith(atAlpha, 'bravo', { received: toAlpha.sent, highest_seq: toAlpha.sent, gaps: 0, quarantined: 0 })
})
