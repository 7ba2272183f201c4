// Events of a session are numbered from 1 without a gap, and a client can resume after any of them.
import { expect, test } from 'vitest'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'
import { followSession, listEventNumbers, listTransitions } from './session-events.ts'

const world = setUpConsensusSite(() => ({ contributors: ['c1', 'c2'] }))

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1)

/** In conflict from the second contribution to the thirtieth, which ratifies; then withdrawn: 37 events. */
async function contributeThirty(person: CheckedClient, id: string): Promise<void> {
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0) })
  await person.ok(contribute, { id, ...buildOpinionInput('c2', 1) })
  for (let at = 1; at <= 27; at++) await person.ok(contribute, { id, ...buildOpinionInput('c1', 0, [1 - at / 100, 1]) })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 1) })
  await waitUntilDelivered(person, id)
  await person.ok(cancel, { id })
}

test('thirty contributions and their consequences, sent as they happen, are numbered 1 to 37', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  const live = await followSession(world(), person, id)
  await contributeThirty(person, id)
  await live.ended
  expect(listEventNumbers(live)).toEqual(upTo(37))
  const contributions = Array<string>(28).fill('contribution')
  expect(live.events.map(({ event }) => event)).toEqual([
    ...['state', 'contribution', 'state', 'contribution', 'state', 'result'],
    ...contributions,
    ...['state', 'result', 'state'],
  ])
  expect(listTransitions(live).map(({ seq, to }) => [seq, to])).toEqual([
    [1, 'PROPOSED'],
    [3, 'PENDING_QUORUM'],
    [5, 'IN_CONFLICT'],
    [35, 'RATIFIED'],
    [37, 'WITHDRAWN'],
  ])
  const { items } = await person.ok(recordOf, { id })
  const record = items.map(({ standing: _, ...item }) => item)
  expect(live.events.filter(({ event }) => event === 'contribution').map(({ data }) => data)).toEqual(record)
  const [clash, , ratified] = [5, 6, 35].map((seq) => listTransitions(live).find((step) => step.seq === seq))
  expect(live.events.filter(({ event }) => event === 'result').map(({ data }) => data)).toEqual([
    { state: 'IN_CONFLICT', reason: 'conflict', result: clash?.result },
    { state: 'RATIFIED', decision: 'match', result: ratified?.result },
  ])
  expect(ratified?.result).toMatchObject({ score: 1, conflict: 0 })

  const whole = await followSession(world(), person, id)
  await whole.ended
  expect(whole.events).toEqual(live.events)
})

test('a client resumes after every one of 37 events, over a restart too, and gets exactly the rest', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  await contributeThirty(person, id)
  const whole = await followSession(world(), person, id)
  await whole.ended
  expect(listEventNumbers(whole)).toEqual(upTo(37))
  const resumedEverywhere = async () => {
    for (const after of [0, ...upTo(37)]) {
      const resumed = await followSession(world(), person, id, String(after))
      await resumed.ended
      expect(resumed.events, `after ${after}`).toEqual(whole.events.slice(after))
    }
  }
  await resumedEverywhere()
  await world().restart()
  await resumedEverywhere()
})

test.each(['', 'none', '-4', '0'])(
  'a Last-Event-ID of "%s" is none: the stream begins with PROPOSED',
  async (after) => {
    const person = await createOperator(world())
    const { id } = await openSession(person, { m: 1, n: 1 })
    await person.ok(cancel, { id })
    const reader = await followSession(world(), person, id, after)
    await reader.ended
    expect(listEventNumbers(reader)).toEqual([1, 2])
  },
)

test('an event without a change of state has no number, and one after a wait follows the last one sent', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0) })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0) })
  await person.ok(contribute, { id, ...buildOpinionInput('c2', 1) })
  await person.ok(resolve, { id })
  const reader = await followSession(world(), person, id, '5')
  await waitUntil(() => reader.events.length === 1)
  await person.ok(attest, { id, decision: 'match', rationale: 'seen' })
  await waitUntilDelivered(person, id)
  await person.ok(cancel, { id })
  await reader.ended
  expect(reader.events.map((sent) => [sent.id, sent.event])).toEqual([
    ['6', 'result'],
    ['7', 'state'],
    ['8', 'result'],
    ['9', 'state'],
  ])
})
