// Every event of a session has its number, from 1 on without a gap, and a client resumes after any of them.
import { expect, test } from 'vitest'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/site-world.ts'
import { delivered, open, operatorOf, opinion, sharedWorld } from './consensus-world.ts'
import { followed, numbersIn, steps } from './session-events.ts'

const world = sharedWorld(() => ({ contributors: ['c1', 'c2'] }))

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1)

/** In conflict from the second contribution to the thirtieth, which ratifies; then withdrawn: 37 events. */
async function thirtyContributions(person: Person, id: string): Promise<void> {
  await person.ok(contribute, { id, ...opinion('c1', 0) })
  await person.ok(contribute, { id, ...opinion('c2', 1) })
  for (let at = 1; at <= 27; at++) await person.ok(contribute, { id, ...opinion('c1', 0, [1 - at / 100, 1]) })
  await person.ok(contribute, { id, ...opinion('c1', 1) })
  await delivered(person, id)
  await person.ok(cancel, { id })
}

test('thirty contributions and what they led to, told as they come, are numbered 1 to 37', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 2, n: 2 })
  const live = await followed(world(), person, id)
  await thirtyContributions(person, id)
  await live.ended
  expect(numbersIn(live)).toEqual(upTo(37))
  const contributions = Array<string>(28).fill('contribution')
  expect(live.seen.map(({ event }) => event)).toEqual([
    ...['state', 'contribution', 'state', 'contribution', 'state', 'result'],
    ...contributions,
    ...['state', 'result', 'state'],
  ])
  expect(steps(live).map(({ seq, to }) => [seq, to])).toEqual([
    [1, 'PROPOSED'],
    [3, 'PENDING_QUORUM'],
    [5, 'IN_CONFLICT'],
    [35, 'RATIFIED'],
    [37, 'WITHDRAWN'],
  ])
  const { items } = await person.ok(recordOf, { id })
  const record = items.map(({ standing: _, ...item }) => item)
  expect(live.seen.filter(({ event }) => event === 'contribution').map(({ data }) => data)).toEqual(record)
  const [clash, , ratified] = [5, 6, 35].map((seq) => steps(live).find((step) => step.seq === seq))
  expect(live.seen.filter(({ event }) => event === 'result').map(({ data }) => data)).toEqual([
    { state: 'IN_CONFLICT', reason: 'conflict', result: clash?.result },
    { state: 'RATIFIED', decision: 'match', result: ratified?.result },
  ])
  expect(ratified?.result).toMatchObject({ score: 1, conflict: 0 })

  const whole = await followed(world(), person, id)
  await whole.ended
  expect(whole.seen).toEqual(live.seen)
})

test('a client resumes after every one of 37 events, over a restart too, and is told exactly the rest', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 2, n: 2 })
  await thirtyContributions(person, id)
  const whole = await followed(world(), person, id)
  await whole.ended
  expect(numbersIn(whole)).toEqual(upTo(37))
  const resumedEverywhere = async () => {
    for (const after of [0, ...upTo(37)]) {
      const resumed = await followed(world(), person, id, String(after))
      await resumed.ended
      expect(resumed.seen, `after ${after}`).toEqual(whole.seen.slice(after))
    }
  }
  await resumedEverywhere()
  await world().restart()
  await resumedEverywhere()
})

test.each(['', 'none', '-4', '0'])(
  'a Last-Event-ID of "%s" is none: the stream begins with PROPOSED',
  async (after) => {
    const person = await operatorOf(world())
    const { id } = await open(person, { m: 1, n: 1 })
    await person.ok(cancel, { id })
    const reader = await followed(world(), person, id, after)
    await reader.ended
    expect(numbersIn(reader)).toEqual([1, 2])
  },
)

test('what changes no state has no number, and what comes after a wait follows the last one told', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 2, n: 2 })
  await person.ok(contribute, { id, ...opinion('c1', 0) })
  await person.ok(contribute, { id, ...opinion('c1', 0) })
  await person.ok(contribute, { id, ...opinion('c2', 1) })
  await person.ok(resolve, { id })
  const reader = await followed(world(), person, id, '5')
  await until(() => reader.seen.length === 1)
  await person.ok(attest, { id, decision: 'match', rationale: 'seen' })
  await delivered(person, id)
  await person.ok(cancel, { id })
  await reader.ended
  expect(reader.seen.map((told) => [told.id, told.event])).toEqual([
    ['6', 'result'],
    ['7', 'state'],
    ['8', 'result'],
    ['9', 'state'],
  ])
})
