// Dissent records: listed, filtered, explained in three formats, and closed when the session is decided.
import { expect, test } from 'vitest'
import { bySession } from '../../../daemon/roles/consensus/dissent/by-session.ts'
import { explain } from '../../../daemon/roles/consensus/dissent/explain.ts'
import { get as dissentOf } from '../../../daemon/roles/consensus/dissent/get.ts'
import { list } from '../../../daemon/roles/consensus/dissent/list.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

const world = setUpConsensusSite(() => ({ contributors: ['c1', 'c2', 'c3'] }))

/** c1 is alone against c2 and c3. */
async function createConflict(
  person: CheckedClient,
  lens_id = 'lens-1',
  combination_method?: 'dempster_shafer',
): Promise<string> {
  const policy = { m: 2, n: 3, conflict_threshold: 0.7, ...(combination_method ? { combination_method } : {}) }
  const { id } = await person.ok(create, { ...buildSessionInput(policy), lens_id })
  // c1 contributes second: m is 2, and an agreement of the other two would be ratified at once.
  for (const [who, score] of Object.entries({ c2: 1, c1: 0, c3: 1 })) {
    await person.ok(contribute, { id, ...buildOpinionInput(who, score) })
  }
  await waitUntilDelivered(person, id)
  return id
}

async function listDissents(person: CheckedClient, session_id: string) {
  return (await person.ok(bySession, { session_id })).items
}

test('a record says why, who stands where, and without whom the session would ratify', async () => {
  const person = await createOperator(world())
  const id = await createConflict(person)
  const [record] = await listDissents(person, id)
  expect(record).toMatchObject({
    session_id: id,
    lens_id: 'lens-1',
    status: 'open',
    reason: 'conflict',
    method: 'weighted_average',
    score: 0.5,
    conflict: 1,
    thresholds: { ratify_threshold: 0.8, conflict_threshold: 0.7 },
    quorum: { m: 2, n: 3, contributors: 2 },
    most_divergent_pair: expect.anything(),
  })
  expect(record?.positions.map(({ contributor_id }) => contributor_id)).toEqual(['c1', 'c2'])
  expect(await person.ok(dissentOf, { id: record?.id ?? '' })).toEqual(record)
})

test('resolve renews the record over all contributors since; the earlier one is superseded', async () => {
  const person = await createOperator(world())
  const id = await createConflict(person)
  world().clock.advance(1)
  await person.ok(resolve, { id })
  await waitUntilDelivered(person, id)
  const records = await listDissents(person, id)
  expect(records.map(({ status, resolution, quorum }) => [status, resolution, quorum.contributors])).toEqual([
    ['resolved', 'superseded', 2],
    ['open', undefined, 3],
  ])
  const [lone] = records.at(-1)?.smallest_set.contributor_ids ?? []
  expect([lone, records.at(-1)?.smallest_set.exact]).toEqual(['c1', true])
})

test.each([
  [
    'an attestation',
    'attested',
    (person: CheckedClient, id: string) => person.ok(attest, { id, decision: 'match', rationale: 'seen' }),
  ],
  ['a cancel', 'withdrawn', (person: CheckedClient, id: string) => person.ok(cancel, { id })],
  [
    'a change of mind',
    'ratified',
    (person: CheckedClient, id: string) => person.ok(contribute, { id, ...buildOpinionInput('c1', 1) }),
  ],
] as const)('%s closes the record as %s', async (_outcome, resolution, settle) => {
  const person = await createOperator(world())
  const id = await createConflict(person)
  world().clock.advance(1_000)
  const at = new Date(world().clock.now()).toISOString()
  await settle(person, id)
  expect((await waitUntilDelivered(person, id)).open_dissent_id).toBeUndefined()
  expect(await listDissents(person, id)).toMatchObject([{ status: 'resolved', resolution, resolved_at: at }])
})

test('the list is newest first, filtered by session, lens and status', async () => {
  const person = await createOperator(world())
  const first = await createConflict(person, 'lens-f')
  world().clock.advance(1_000)
  const second = await createConflict(person, 'lens-f')
  await person.ok(cancel, { id: first })
  await waitUntilDelivered(person, first)
  const found = async (filter: { lens_id?: string; session_id?: string; status?: 'open' | 'resolved' }) =>
    (await person.ok(list, filter)).items.map(({ session_id }) => session_id)
  expect(await found({ lens_id: 'lens-f' })).toEqual([second, first])
  expect(await found({ lens_id: 'lens-f', status: 'open' })).toEqual([second])
  expect(await found({ session_id: first })).toEqual([first])
  expect(await found({ lens_id: 'lens-none' })).toEqual([])
  expect(await person.refusal(bySession, { session_id: 'ses_none' })).toBe('not_found')
})

test.each([
  ['text/plain', 'text/plain; charset=utf-8', /^This session is in conflict\n/],
  ['text/markdown', 'text/markdown; charset=utf-8', /^# This session is in conflict\n/],
  ['text/markdown;q=0.2, text/plain;q=0.9', 'text/plain; charset=utf-8', /^This session/],
  ['application/json', 'application/json', /^\{/],
  ['*/*', 'application/json', /^\{/],
])('explained as %s', async (accept, type, shape) => {
  const person = await createOperator(world())
  const [record] = await listDissents(person, await createConflict(person))
  const at = `/api/v2/dissent/${record?.id}/explain`
  const headers = { accept }
  const one = await world().call('consensus', 'GET', at, undefined, { token: person.token, headers })
  const other = await world().call('consensus', 'GET', at, undefined, { token: person.token, headers })
  expect(one.headers.get('content-type')).toContain(type)
  expect(one.text).toMatch(shape)
  expect(one.text).toContain('c1')
  expect(other.text).toBe(one.text)
})

test('the JSON explanation holds both texts', async () => {
  const person = await createOperator(world())
  const id = await createConflict(person)
  const [record] = await listDissents(person, id)
  const explained = await person.ok(explain, { id: record?.id ?? '' })
  expect(explained).toMatchObject({ id: record?.id, session_id: id })
  expect([explained.text.startsWith('This'), explained.markdown.startsWith('# This')]).toEqual([true, true])
})

test('total conflict has no score, and says so', async () => {
  const person = await createOperator(world())
  const id = await createConflict(person, 'lens-1', 'dempster_shafer')
  expect(await listDissents(person, id)).toMatchObject([{ reason: 'total_conflict', score: null, K: 1 }])
})
