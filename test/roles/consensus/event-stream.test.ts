// The event stream of a session: who may follow it, until when, and that all who do are told the same.
import { expect, test } from 'vitest'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import type { EventReader } from '../../support/event-reader.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/site-world.ts'
import { asked, open, operatorOf, opinion, sharedWorld } from './consensus-world.ts'
import { followed, numbersIn, states, steps } from './session-events.ts'

const world = sharedWorld(() => ({ contributors: ['c1', 'c2', 'c3'] }))

const follow = (person: Person, id: string, after?: string) => followed(world(), person, id, after)

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
  expect(numbersIn(reader)).toEqual(reader.seen.map((_, at) => at + 1))
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
  const seen = whole.seen[2]?.id
  await world().restart()
  await whole.ended
  const resumed = await follow(person, id, seen)
  await until(() => states(resumed).length === 1)
  await person.ok(attest, { id, decision: 'match', rationale: 'seen' })
  await person.ok(cancel, { id })
  await resumed.ended
  expect(states(resumed)).toEqual(['IN_CONFLICT', 'RATIFIED', 'WITHDRAWN'])
  expect(numbersIn(resumed)[0]).toBe(Number(seen) + 1)
})

test('a stream of a session that is WITHDRAWN ends by itself', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 1, n: 1 })
  await person.ok(cancel, { id })
  const reader = await follow(person, id)
  await reader.ended
  expect(states(reader)).toEqual(['PROPOSED', 'WITHDRAWN'])
})

test('it ends for a reader to whom the session is no longer releasable', async () => {
  const french = { clearance: { level: 'SECRET', nationality: 'FR' } }
  const high = await world().as({ subject: 'olga', roles: ['operator'], ...french })
  const low = await world().as()
  const classification = { level: 'UNCLASSIFIED', releasable_to: ['FR', 'tenant-a'] }
  const { id } = await high.ok(create, { ...asked({ m: 2, n: 2 }), classification })
  const reader = await follow(low, id)
  await until(() => states(reader).length === 1)
  const narrow = { level: 'UNCLASSIFIED', releasable_to: ['FR'] }
  await high.ok(contribute, { id, ...opinion('c1', 1), classification: narrow })
  await reader.ended
  expect(reader.seen.map(({ event }) => event)).toEqual(['state'])
  expect((await high.ok(contribute, { id, ...opinion('c2', 1) })).state).toBe('RATIFIED')
})

test('it ends within about a second of the token’s end, and tells nothing of what comes after', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 3, n: 3 })
  const [brief, quiet] = await Promise.all(
    ['bea', 'quin'].map(async (subject) => follow(await world().as({ subject, lifetime_s: 60 }), id)),
  )
  const lasting = await follow(person, id)
  await until(() => [brief, quiet, lasting].every((reader) => reader?.seen.length === 1))
  world().clock.advance(59_999)
  await person.ok(contribute, { id, ...opinion('c1', 0.9) })
  await until(() => [brief, quiet, lasting].every((reader) => reader?.seen.length === 3))
  world().clock.advance(1)
  const began = performance.now()
  await quiet?.ended
  expect(performance.now() - began).toBeLessThan(3_000)
  await person.ok(contribute, { id, ...opinion('c2', 0.9) })
  await brief?.ended
  await until(() => lasting.seen.length === 4)
  expect([brief, quiet].map((reader) => reader?.seen.length)).toEqual([3, 3])
  await person.ok(cancel, { id })
  await lasting.ended
})

test('a reader whose token is revoked is told nothing more', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 3, n: 3 })
  const gone = await follow(await world().as({ subject: 'gwen' }), id)
  await until(() => gone.seen.length === 1)
  await person.ok(revoke, { subject: 'gwen', reason: 'left' })
  await person.ok(contribute, { id, ...opinion('c1', 0.9) })
  await gone.ended
  expect(gone.seen).toHaveLength(1)
})

test('what happens in the moment that the token has ended is not told any more', async () => {
  const person = await operatorOf(world())
  const { id } = await open(person, { m: 3, n: 3 })
  const brief = await follow(await world().as({ lifetime_s: 60 }), id)
  await until(() => brief.seen.length === 1)
  world().clock.advance(60_000)
  await person.ok(contribute, { id, ...opinion('c1', 0.9) })
  await brief.ended
  expect(brief.seen).toHaveLength(1)
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
