// A session with a thousand contributions keeps its record complete and in order, over pages, callers and a restart.
import { expect, test } from 'vitest'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import {
  buildContributorNames,
  buildOpinionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

const everybody = buildContributorNames(51)
const world = setUpConsensusSite(() => ({ contributors: everybody }))

/** `at` distinguishes the contributions. */
const buildContribution = (at: number) => buildOpinionInput(everybody[at % 50] ?? '', 0.9, [1, 1 - at / 10_000])

async function contributeAll(person: CheckedClient, id: string, from: number, to: number): Promise<void> {
  let next = from
  const caller = async () => {
    for (let at = next++; at < to; at = next++) await person.ok(contribute, { id, ...buildContribution(at) })
  }
  await Promise.all(Array.from({ length: 32 }, caller))
}

async function readWholeRecord(person: CheckedClient, id: string, limit: number) {
  const items = []
  let cursor: string | undefined
  do {
    const page = await person.ok(recordOf, { id, limit, ...(cursor === undefined ? {} : { cursor }) })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  return items
}

test('a thousand contributions by 32 callers, with a restart half-way, are all in the record, once, in order', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 51, n: 51 })
  await contributeAll(person, id, 0, 500)
  await world().restart()
  await contributeAll(person, id, 500, 1_000)

  const record = await readWholeRecord(person, id, 33)
  expect(record.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1))
  const found = record.map(({ credibility }) => Math.round((1 - credibility) * 10_000))
  expect(found.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, at) => at))
  expect(found.slice(0, 500).every((at) => at < 500)).toBe(true)
  const last = new Map(record.map((item) => [item.contributor_id, item.id]))
  expect(record.filter(({ standing }) => standing).map((item) => item.id)).toEqual(
    record.filter((item) => last.get(item.contributor_id) === item.id).map((item) => item.id),
  )
  expect(await person.ok(get, { id })).toMatchObject({
    contributions: 1_000,
    contributors: 50,
    state: 'PENDING_QUORUM',
  })

  await person.ok(contribute, { id, ...buildOpinionInput('c51', 0.9) })
  const session = await waitUntilDelivered(person, id)
  expect(session).toMatchObject({ state: 'RATIFIED', decision: 'match', contributions: 1_001 })
  const { content } = await person.ok(evidenceOf, { block_id: session.evidence_block_id ?? '' })
  expect(content.record.contributions).toBe(1_001)
  expect(content.contributions.map(({ contributor_id }) => contributor_id).toSorted()).toEqual(everybody.toSorted())
})

test('the record is paged by ordinal, across stored pages and those still in the session', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  for (let at = 0; at < 17; at++)
    await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.5, [1, 1 - at / 100]) })
  const { items, next_cursor: cursor, total } = await person.ok(recordOf, { id, limit: 16 })
  expect([items.length, total]).toEqual([16, 17])
  const rest = await person.ok(recordOf, { id, limit: 16, ...(cursor === undefined ? {} : { cursor }) })
  expect([rest.items.map(({ ordinal }) => ordinal), rest.next_cursor, rest.total]).toEqual([[17], undefined, 17])
  const { id: other } = await openSession(person, { m: 2, n: 2 })
  for (const foreign of ['16', cursor ?? ''])
    expect(await person.refusal(recordOf, { id: other, cursor: foreign })).toBe('malformed')
})
