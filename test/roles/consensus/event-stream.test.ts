// The event stream of a session: its permitted readers, its end, and equal content for all readers.
import { expect, test } from 'vitest'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import type { EventReader } from '../../support/http/event-reader.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
} from './consensus-site.ts'
import { followSession, listEventNumbers, listStates, listTransitions } from './session-events.ts'

const world = setUpConsensusSite(() => ({ contributors: ['c1', 'c2', 'c3'] }))

const followWorldSession = (person: CheckedClient, id: string, after?: string) =>
  followSession(world(), person, id, after)

async function ratifyByThree(person: CheckedClient, id: string): Promise<void> {
  for (const [who, score] of [
    ['c1', 0.9],
    ['c2', 0.8],
    ['c3', 1],
  ] as const) {
    await person.ok(contribute, { id, ...buildOpinionInput(who, score) })
  }
}

test('create, then three contributions: the stream tells PROPOSED, PENDING_QUORUM, RATIFIED and the result', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  const reader = await followWorldSession(person, id)
  expect([reader.status, reader.content_type]).toEqual([200, 'text/event-stream'])
  await waitUntil(() => listStates(reader).length === 1)
  await ratifyByThree(person, id)
  await waitUntil(() => listStates(reader).includes('RATIFIED'))
  expect(listStates(reader)).toEqual(['PROPOSED', 'PENDING_QUORUM', 'RATIFIED'])
  expect(listTransitions(reader).at(-1)).toMatchObject({
    from: 'PENDING_QUORUM',
    decision: 'match',
    trigger: 'contribution',
    result: { method: 'weighted_average', score: expect.closeTo(0.9, 12), total_weight: 3 },
  })
  await person.ok(cancel, { id })
  await reader.ended
  expect(listStates(reader).at(-1)).toBe('WITHDRAWN')
  expect(listEventNumbers(reader)).toEqual(reader.events.map((_, at) => at + 1))
})

test('a late reader gets the whole story; one who resumes gets the rest, over a restart too', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  for (const [who, score] of [
    ['c1', 0],
    ['c2', 1],
  ] as const)
    await person.ok(contribute, { id, ...buildOpinionInput(who, score) })
  const whole = await followWorldSession(person, id)
  await waitUntil(() => listStates(whole).length === 3)
  expect(listStates(whole)).toEqual(['PROPOSED', 'PENDING_QUORUM', 'IN_CONFLICT'])
  const seen = whole.events[2]?.id
  await world().restart()
  await whole.ended
  const resumed = await followWorldSession(person, id, seen)
  await waitUntil(() => listStates(resumed).length === 1)
  await person.ok(attest, { id, decision: 'match', rationale: 'seen' })
  await person.ok(cancel, { id })
  await resumed.ended
  expect(listStates(resumed)).toEqual(['IN_CONFLICT', 'RATIFIED', 'WITHDRAWN'])
  expect(listEventNumbers(resumed)[0]).toBe(Number(seen) + 1)
})

test('a stream of a session that is WITHDRAWN ends by itself', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 1, n: 1 })
  await person.ok(cancel, { id })
  const reader = await followWorldSession(person, id)
  await reader.ended
  expect(listStates(reader)).toEqual(['PROPOSED', 'WITHDRAWN'])
})

test('ends for a reader to whom the session is no longer releasable', async () => {
  const french = { clearance: { level: 'SECRET', nationality: 'FR' } }
  const high = await world().as({ subject: 'olga', roles: ['operator'], ...french })
  const low = await world().as()
  const classification = { level: 'UNCLASSIFIED', releasable_to: ['FR', 'tenant-a'] }
  const { id } = await high.ok(create, { ...buildSessionInput({ m: 2, n: 2 }), classification })
  const reader = await followWorldSession(low, id)
  await waitUntil(() => listStates(reader).length === 1)
  const narrow = { level: 'UNCLASSIFIED', releasable_to: ['FR'] }
  await high.ok(contribute, { id, ...buildOpinionInput('c1', 1), classification: narrow })
  await reader.ended
  expect(reader.events.map(({ event }) => event)).toEqual(['state'])
  expect((await high.ok(contribute, { id, ...buildOpinionInput('c2', 1) })).state).toBe('RATIFIED')
})

test('it ends within about a second of the token’s end, and tells nothing of what comes after', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  const [brief, quiet] = await Promise.all(
    ['bea', 'quin'].map(async (subject) => followWorldSession(await world().as({ subject, lifetime_s: 60 }), id)),
  )
  const lasting = await followWorldSession(person, id)
  await waitUntil(() => [brief, quiet, lasting].every((reader) => reader?.events.length === 1))
  world().clock.advance(59_999)
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  await waitUntil(() => [brief, quiet, lasting].every((reader) => reader?.events.length === 3))
  world().clock.advance(1)
  const began = performance.now()
  await quiet?.ended
  expect(performance.now() - began).toBeLessThan(3_000)
  await person.ok(contribute, { id, ...buildOpinionInput('c2', 0.9) })
  await brief?.ended
  await waitUntil(() => lasting.events.length === 4)
  expect([brief, quiet].map((reader) => reader?.events.length)).toEqual([3, 3])
  await person.ok(cancel, { id })
  await lasting.ended
})

test('sends nothing more to a reader whose token is revoked', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  const gone = await followWorldSession(await world().as({ subject: 'gwen' }), id)
  await waitUntil(() => gone.events.length === 1)
  await person.ok(revoke, { subject: 'gwen', reason: 'left' })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  await gone.ended
  expect(gone.events).toHaveLength(1)
})

test('sends nothing that happens in the moment when the token ends', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  const brief = await followWorldSession(await world().as({ lifetime_s: 60 }), id)
  await waitUntil(() => brief.events.length === 1)
  world().clock.advance(60_000)
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  await brief.ended
  expect(brief.events).toHaveLength(1)
})

test('twenty readers of one session all get the same', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  const readers = await Promise.all(Array.from({ length: 20 }, () => followWorldSession(person, id)))
  await ratifyByThree(person, id)
  await person.ok(cancel, { id })
  await Promise.all(readers.map(({ ended }) => ended))
  for (const reader of readers) expect(reader.events).toEqual(readers[0]?.events)
  expect(listStates(readers[0] as EventReader)).toEqual(['PROPOSED', 'PENDING_QUORUM', 'RATIFIED', 'WITHDRAWN'])
})
