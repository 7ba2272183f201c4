// The event stream of a session: every change of state with the combiner's result, resumed where a client stopped.
import { expect, test } from 'vitest'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { transition } from '../../../daemon/roles/consensus/session/model.ts'
import { type EventReader, readEvents } from '../../support/event-reader.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/site-world.ts'
import { open, operatorOf, opinion, sharedWorld } from './consensus-world.ts'

const world = sharedWorld(() => ({ contributors: ['c1', 'c2', 'c3'] }))

const follow = ({ token }: Person, id: string, after?: string) =>
  readEvents(world().url('consensus'), `/api/v2/consensus/session/${id}/events`, token, after)

/** Changes of state, whatever else the stream may tell. */
function steps({ seen }: EventReader) {
  return seen.flatMap(({ data }) => {
    const step = transition.safeParse(data)
    return step.success ? [step.data] : []
  })
}
const states = (reader: EventReader) => steps(reader).map(({ to }) => to)
const ids = ({ seen }: EventReader) => seen.map(({ id }) => Number(id))

async function ratifiedByThree(person: Person, id: string): Promise<void> {
  for (const [who, score] of [
    ['c1', 0.9],
    ['c2', 0.8],
    ['c3', 1],
  ] as const) {
    await person.ok(contribute, { id, ...opinion(who, score) })
  }
}

test('create, then three contributions: the stream tells PROPOSED, PENDING_QUORUM, RATIFIED and the result', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 3, n: 3 })
  const reader = await follow(person, id)
  expect([reader.status, reader.content_type]).toEqual([200, 'text/event-stream'])
  await until(() => states(reader).length === 1)
  await ratifiedByThree(person, id)
  await until(() => states(reader).includes('RATIFIED'))
  expect(states(reader)).toEqual(['PROPOSED', 'PENDING_QUORUM', 'RATIFIED'])
  expect(steps(reader).at(-1)).toMatchObject({
    from: 'PENDING_QUORUM',
    decision: 'match',
    trigger: 'contribution',
    result: { method: 'weighted_average', score: expect.closeTo(0.9, 12), total_weight: 3 },
  })
  await person.ok(cancel, { id })
  await reader.ended
  expect(states(reader).at(-1)).toBe('WITHDRAWN')
  expect(ids(reader)).toEqual(reader.seen.map((_, at) => at + 1))
})

test('a late reader gets the whole story; one who resumes gets the rest, over a restart too', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 2, n: 2 })
  for (const [who, score] of [
    ['c1', 0],
    ['c2', 1],
  ] as const)
    await person.ok(contribute, { id, ...opinion(who, score) })
  const whole = await follow(person, id)
  await until(() => states(whole).length === 3)
  expect(states(whole)).toEqual(['PROPOSED', 'PENDING_QUORUM', 'IN_CONFLICT'])
  const seen = whole.seen[1]?.id
  await world().restart()
  await whole.ended
  const resumed = await follow(person, id, seen)
  await until(() => states(resumed).length === 1)
  await person.ok(attest, { id, decision: 'match', rationale: 'seen' })
  await person.ok(cancel, { id })
  await resumed.ended
  expect(states(resumed)).toEqual(['IN_CONFLICT', 'RATIFIED', 'WITHDRAWN'])
  expect(ids(resumed)[0]).toBe(Number(seen) + 1)
})

test('a stream of a session that is WITHDRAWN ends by itself', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 1, n: 1 })
  await person.ok(cancel, { id })
  const reader = await follow(person, id)
  await reader.ended
  expect(states(reader)).toEqual(['PROPOSED', 'WITHDRAWN'])
})

test('it ends for a reader whom the session’s label has risen above', async () => {
  const high = await operatorOf(world())
  const low = await world().as({ clearance: { level: 'UNCLASSIFIED' } })
  const { id } = await open(high, { m: 2, n: 2 })
  const reader = await follow(low, id)
  await until(() => states(reader).length === 1)
  await high.ok(contribute, { id, ...opinion('c1', 1, [1, 1], 'SECRET') })
  await reader.ended
  expect(states(reader)).toEqual(['PROPOSED'])
})

test('twenty readers of one session all get the same', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 3, n: 3 })
  const readers = await Promise.all(Array.from({ length: 20 }, () => follow(person, id)))
  await ratifiedByThree(person, id)
  await person.ok(cancel, { id })
  await Promise.all(readers.map(({ ended }) => ended))
  for (const reader of readers) expect(reader.seen).toEqual(readers[0]?.seen)
  expect(states(readers[0] as EventReader)).toEqual(['PROPOSED', 'PENDING_QUORUM', 'RATIFIED', 'WITHDRAWN'])
})
