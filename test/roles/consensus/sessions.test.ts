// The endpoints of a session: repeats, versions, lists, attestation, deadlines.
import { expect, test } from 'vitest'
import { list as dissentList } from '../../../daemon/roles/consensus/dissent/list.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list } from '../../../daemon/roles/consensus/session/list.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  type PolicyInput,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

const world = setUpConsensusSite(() => ({
  contributors: ['c1', 'c2', 'c3'],
  profile: { identity: { roles: { scribe: ['consensus:read', 'consensus:write'] } } },
}))
const buildIdempotencyHeader = (text: string) => ({ 'idempotency-key': text })

async function createConflict(person: CheckedClient): Promise<string> {
  const { id } = await openSession(person, { m: 2, n: 2 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0) })
  await person.ok(contribute, { id, ...buildOpinionInput('c2', 1) })
  return id
}

test('a create is answered 201 with the defaults of the policy, the caller’s tenant and an ETag', async () => {
  const person = await createOperator(world())
  const { status, etag, value } = await person.call(create, buildSessionInput({ m: 2, n: 3 }, 'SECRET'))
  expect([status, etag]).toEqual([201, '"1"'])
  expect(value).toMatchObject({
    state: 'PROPOSED',
    tenant_id: 'tenant-a',
    created_by: 'olga',
    classification: { level: 'SECRET', originator: 'tenant-a' },
    policy: { combination_method: 'weighted_average', ratify_threshold: 0.8, conflict_threshold: 0.5 },
    history: [{ seq: 1, from: null, to: 'PROPOSED', trigger: 'create', by: 'olga' }],
  })
})

test('an idempotency key names one session for one subject, and one body', async () => {
  const [ann, olga] = [await world().as(), await createOperator(world())]
  const first = await olga.ok(create, buildSessionInput({ m: 1, n: 2 }), buildIdempotencyHeader('k1'))
  expect((await olga.ok(create, buildSessionInput({ m: 1, n: 2 }), buildIdempotencyHeader('k1'))).id).toBe(first.id)
  expect(await olga.refusal(create, buildSessionInput({ m: 2, n: 2 }), buildIdempotencyHeader('k1'))).toBe(
    'idempotency_mismatch',
  )
  expect((await ann.ok(create, buildSessionInput({ m: 1, n: 2 }), buildIdempotencyHeader('k1'))).id).not.toBe(first.id)
  await olga.ok(contribute, { id: first.id, ...buildOpinionInput('c1', 0.9) }, buildIdempotencyHeader('k1'))
  expect((await olga.ok(create, buildSessionInput({ m: 1, n: 2 }), buildIdempotencyHeader('k1'))).state).toBe(
    'RATIFIED',
  )
})

test('an idempotency key names one contribution, also after it was superseded', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) }, buildIdempotencyHeader('k2'))
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.1) })
  expect(
    await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) }, buildIdempotencyHeader('k2')),
  ).toMatchObject({ contributions: 2 })
  expect(await person.refusal(contribute, { id, ...buildOpinionInput('c1', 0.3) }, buildIdempotencyHeader('k2'))).toBe(
    'idempotency_mismatch',
  )
})

test('an idempotency key stands for its contribution also where that says only what stood already', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  const opinion = { id, ...buildOpinionInput('c1', 0.9) }
  await person.ok(contribute, opinion)
  const etag = (await person.call(contribute, opinion, buildIdempotencyHeader('k5'))).etag
  expect(etag).toBe('"2"')
  expect(await person.refusal(contribute, { id, ...buildOpinionInput('c1', 0.3) }, buildIdempotencyHeader('k5'))).toBe(
    'idempotency_mismatch',
  )
  expect(await person.refusal(contribute, { id, ...buildOpinionInput('c2', 0.9) }, buildIdempotencyHeader('k5'))).toBe(
    'idempotency_mismatch',
  )
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.1) }, buildIdempotencyHeader('k6'))
  // It is the old request that comes again, not a change of mind.
  expect(await person.ok(contribute, opinion, buildIdempotencyHeader('k5'))).toMatchObject({
    contributions: 2,
    version: 3,
  })
  await world().restart()
  const again = await createOperator(world())
  expect(await again.refusal(contribute, { id, ...buildOpinionInput('c1', 0.3) }, buildIdempotencyHeader('k5'))).toBe(
    'idempotency_mismatch',
  )
  expect(await again.ok(contribute, opinion, buildIdempotencyHeader('k5'))).toMatchObject({
    contributions: 2,
    version: 3,
  })
  expect(await again.ok(contribute, { id, ...buildOpinionInput('c1', 0.3) })).toMatchObject({ contributions: 3 })
  const other = await openSession(again, { m: 3, n: 3 })
  expect(
    await again.ok(contribute, { id: other.id, ...buildOpinionInput('c1', 0.2) }, buildIdempotencyHeader('k5')),
  ).toMatchObject({
    contributions: 1,
  })
})

test('an attestation may be repeated under its key, by the same words alone', async () => {
  const person = await createOperator(world())
  const id = await createConflict(person)
  const attestation = { id, decision: 'match' as const, rationale: 'both pictures show the same scar' }
  const first = await person.ok(attest, attestation, buildIdempotencyHeader('k3'))
  await waitUntilDelivered(person, id)
  expect((await person.ok(attest, attestation, buildIdempotencyHeader('k3'))).attestation).toEqual(first.attestation)
  expect(await person.refusal(attest, { ...attestation, decision: 'non_match' }, buildIdempotencyHeader('k3'))).toBe(
    'idempotency_mismatch',
  )
  expect(await person.refusal(attest, attestation, buildIdempotencyHeader('k4'))).toBe('session_closed')
})

test.each([
  [
    'contribute',
    (person: CheckedClient, id: string, match: string) =>
      person.call(contribute, { id, ...buildOpinionInput('c2', 0.2) }, { 'if-match': match }),
  ],
  [
    'resolve',
    (person: CheckedClient, id: string, match: string) => person.call(resolve, { id }, { 'if-match': match }),
  ],
  ['cancel', (person: CheckedClient, id: string, match: string) => person.call(cancel, { id }, { 'if-match': match })],
])('%s honours If-Match, and answers with the new version', async (_name, act) => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 3 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  expect((await act(person, id, '"1"')).problem?.code).toBe('precondition_failed')
  expect(await person.call(get, { id })).toMatchObject({ etag: '"2"', value: { contributions: 1 } })
  expect(await act(person, id, '"2"')).toMatchObject({ etag: '"3"', value: { version: 3 } })
})

test('a list is newest first, filtered, and paged without a gap', async () => {
  const person = await world().as({ subject: 'ann', tenant: 'tenant-l', roles: ['operator'] })
  const made: string[] = []
  for (let at = 0; at < 7; at++) {
    made.push((await person.ok(create, { ...buildSessionInput({ m: 1, n: 1 }), lens_id: `lens-${at % 2}` })).id)
    world().clock.advance(1)
  }
  await person.ok(cancel, { id: made[3] ?? '' })
  const pages: string[][] = []
  let cursor: string | undefined
  do {
    const page = await person.ok(list, { limit: 3, ...(cursor === undefined ? {} : { cursor }) })
    pages.push(page.items.map(({ id }) => id))
    cursor = page.next_cursor
  } while (cursor !== undefined)
  expect(pages.flat()).toEqual(made.toReversed())
  const ids = async (filter: { state?: 'WITHDRAWN'; lens_id?: string }) =>
    (await person.ok(list, filter)).items.map(({ id }) => id)
  expect(await ids({ state: 'WITHDRAWN' })).toEqual([made[3]])
  expect(await ids({ lens_id: 'lens-1', state: 'WITHDRAWN' })).toEqual([made[3]])
  expect(await ids({ lens_id: 'lens-1' })).toEqual([made[5], made[3], made[1]])
})

test('a list finds the sessions about a match, and those with a deadline to come, without the decided ones', async () => {
  const person = await createOperator(world())
  const about = (correlation_id: string) => ({ kind: 'entity_match', left: 'a/1', right: 'b/1', correlation_id })
  const policy = { m: 2, n: 3, deadline: world().clock.in(600_000) }
  const { id } = await person.ok(create, { ...buildSessionInput(policy), subject: about('match-1') })
  await person.ok(create, { ...buildSessionInput({ m: 2, n: 3 }), subject: about('match-2') })
  const find = async (filter: Parameters<typeof list.input.parse>[0] & object) =>
    (await person.ok(list, { ...filter })).items.map((item) => item.id)
  expect(await find({ correlation_id: 'match-1' })).toEqual([id])
  expect(await find({ correlation_id: 'match-3' })).toEqual([])
  expect(await find({ deadline_before: world().clock.in(600_000) })).toContain(id)
  expect(await find({ deadline_before: world().clock.in(599_000) })).not.toContain(id)
  await person.ok(cancel, { id })
  expect(await find({ deadline_before: world().clock.in(600_000) })).not.toContain(id)
})

test('a list finds what awaits a contribution: of one contributor, and of those whom the caller may submit for', async () => {
  const [olga, stranger] = [await createOperator(world()), await world().as({ subject: 'nobody' })]
  const subject = { kind: 'entity_match', left: 'a/1', right: 'b/1', correlation_id: 'match-awaited' }
  const open = async (policy: PolicyInput) => (await olga.ok(create, { ...buildSessionInput(policy), subject })).id
  const [named, anyone, others] = [
    await open({ m: 2, n: 2, contributors: ['c1', 'c2'] }),
    await open({ m: 2, n: 3 }),
    await open({ m: 1, n: 1, contributors: ['x'] }),
  ]
  const find = async (person: CheckedClient, filter: { awaiting?: string; awaiting_me?: boolean }) =>
    new Set((await person.ok(list, { correlation_id: 'match-awaited', ...filter })).items.map((item) => item.id))
  expect(await find(olga, { awaiting: 'c1' })).toEqual(new Set([named, anyone]))
  expect(await find(olga, { awaiting: 'x' })).toEqual(new Set([anyone, others]))
  expect(await find(olga, { awaiting_me: true })).toEqual(new Set([named, anyone]))
  expect(await find(stranger, { awaiting_me: true })).toEqual(new Set())
  await olga.ok(contribute, { id: named, ...buildOpinionInput('c1', 1) })
  expect(await find(olga, { awaiting: 'c1' })).toEqual(new Set([anyone]))
  expect(await find(olga, { awaiting_me: true })).toEqual(new Set([named, anyone]))
  await olga.ok(contribute, { id: named, ...buildOpinionInput('c2', 1) })
  expect(await find(olga, { awaiting_me: true })).toEqual(new Set([anyone]))
})

test('to attest needs its own permission, and a session in conflict', async () => {
  const [olga, scribe] = [await createOperator(world()), await world().as({ subject: 'ann', roles: ['scribe'] })]
  const id = await createConflict(olga)
  const attestation = { decision: 'match' as const, rationale: 'seen' }
  expect(await scribe.refusal(attest, { id, ...attestation })).toBe('forbidden')
  const session = await olga.ok(attest, { id, ...attestation })
  expect(session).toMatchObject({ state: 'RATIFIED', decision: 'match', attestation: { by: 'olga', ...attestation } })
  const { evidence_block_id } = await waitUntilDelivered(olga, id)
  const block = await scribe.ok(evidenceOf, { block_id: evidence_block_id ?? '' })
  expect(block.content).toMatchObject({ decision: 'match', attestation: { by: 'olga', rationale: 'seen' } })
  expect(await olga.refusal(attest, { id: (await openSession(olga, { m: 1, n: 1 })).id, ...attestation })).toBe(
    'session_closed',
  )
})

test('a deadline without an opinion leaves an inconclusive conflict, which later contributions may still settle', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 1, n: 2, deadline: world().clock.in(60_000) })
  world().wakeWorker('consensus', 'deadlines')
  expect((await person.ok(get, { id })).state).toBe('PROPOSED')
  world().clock.advance(60_000)
  world().wakeWorker('consensus', 'deadlines')
  await waitUntil(async () => (await person.ok(get, { id })).state === 'IN_CONFLICT')
  const session = await waitUntilDelivered(person, id)
  expect(session).toMatchObject({
    reason: 'inconclusive',
    history: [{}, { trigger: 'deadline', by: 'role:consensus' }],
  })
  const { items } = await person.ok(dissentList, { session_id: id })
  expect(items).toMatchObject([{ reason: 'inconclusive', positions: [], status: 'open' }])
  expect((await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.95) })).state).toBe('RATIFIED')
})

test('WITHDRAWN is the end: nothing more is taken', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 1, n: 2 })
  await person.ok(cancel, { id })
  expect(await person.refusal(contribute, { id, ...buildOpinionInput('c1', 1) })).toBe('session_closed')
  expect(await person.refusal(resolve, { id })).toBe('session_closed')
  expect(await person.refusal(cancel, { id })).toBe('session_closed')
  expect(await person.refusal(attest, { id, decision: 'match', rationale: 'late' })).toBe('session_closed')
})

test('a list of what awaits a contribution counts the whole list on each page, to a bound of sessions that are read', async () => {
  const olga = await createOperator(world())
  const open = (correlation_id: string) =>
    olga.ok(create, {
      ...buildSessionInput({ m: 1, n: 2, contributors: ['c1', 'c2'] }),
      subject: { kind: 'entity_match', left: 'a/1', right: 'b/1', correlation_id },
    })
  const opened = await Promise.all(Array.from({ length: 7 }, () => open('match-few')))
  await olga.ok(contribute, { id: opened[0]?.id ?? '', ...buildOpinionInput('c1', 1) })
  const totals: string[] = []
  let cursor: string | undefined
  do {
    const page = await olga.ok(list, {
      correlation_id: 'match-few',
      awaiting: 'c1',
      limit: 2,
      ...(cursor && { cursor }),
    })
    totals.push(`${page.items.length} of ${page.total} ${page.total_is}`)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  expect(totals.filter((line) => !line.startsWith('0 '))).toEqual(Array(3).fill('2 of 6 exact'))
  for (let at = 0; at < 12; at++) await Promise.all(Array.from({ length: 50 }, () => open('match-many')))
  const { total, total_is } = await olga.ok(list, { correlation_id: 'match-many', awaiting: 'c1', limit: 2 })
  expect([total, total_is]).toEqual([500, 'at_least'])
})
