// Lens emission: each ratification and retraction reaches every sink at least once, in order, despite failures.
import { afterAll, expect, test } from 'vitest'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startWebhookReceiver } from '../../support/http/webhook-receiver.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'

const first = await startWebhookReceiver()
const second = await startWebhookReceiver()
afterAll(async () => {
  await first.close()
  await second.close()
})

const world = setUpConsensusSite(() => ({
  contributors: ['c1', 'c2'],
  consensus: {
    sinks: [
      { name: 'first', kind: 'webhook', url: first.url, secret_file: first.secret_file },
      { name: 'second', kind: 'webhook', url: second.url, secret_file: second.secret_file },
    ],
  },
}))

async function ratifySession(person: CheckedClient): Promise<string> {
  const { id } = await openSession(person, { m: 1, n: 2 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  return id
}

const selectDeliveries = (id: string, { deliveries }: typeof first) =>
  deliveries.filter(({ session_id }) => session_id === id)

test('a receiver that fails twice, and a restart between, gets the same emission until it takes it', async () => {
  const person = await createOperator(world())
  first.answerWith(500, 503)
  const id = await ratifySession(person)
  await waitUntil(() => selectDeliveries(id, first).length === 1)
  world().wakeWorker('consensus', 'relay')
  await waitUntil(() => selectDeliveries(id, first).length === 2)
  await world().restart()
  const session = await waitUntilDelivered(person, id)
  const came = selectDeliveries(id, first)
  expect(came.map(({ answered }) => answered)).toEqual([500, 503, 204])
  expect(new Set(came.map((each) => each.id))).toEqual(new Set([`${id}:emission:ratified:first`]))
  expect(came.every(({ isSealed }) => isSealed)).toBe(true)
  // Each attempt is another run of the relay, in which a trace begins.
  const traces = came.map(({ traceparent }) => /^00-([0-9a-f]{32})-[0-9a-f]{16}-02$/.exec(traceparent)?.[1])
  expect([new Set(traces).size, traces.includes(undefined)]).toEqual([3, false])
  expect(came[0]).toMatchObject({
    event: 'ratified',
    decision: 'match',
    score: 0.9,
    evidence_block_id: session.evidence_block_id,
    attested: false,
  })
})

/** The dependency in the health of the role, and the state of the whole. */
async function readSinkHealth(name: string) {
  const token = await world().token({ roles: ['operator'] })
  const { json } = await world().call('consensus', 'GET', '/api/v2/health', undefined, { token })
  const { status, dependencies } = json as {
    status: string
    dependencies: { name: string; state: string; detail: string }[]
  }
  return { status, sink: dependencies.find((each) => each.name === `sink ${name}`) }
}

test('the health names a sink that refuses, and why, until it takes a delivery', async () => {
  const person = await createOperator(world())
  await expect
    .poll(() => readSinkHealth('second'), { timeout: 60_000 })
    .toMatchObject({ status: 'ok', sink: { state: 'ok' } })
  second.answerWith(...Array.from({ length: 50 }, () => 503))
  const id = await ratifySession(person)
  const refused = { state: 'down', detail: expect.stringMatching(/503.*, \d{4}-\d\d-\d\dT/) }
  await expect
    .poll(() => readSinkHealth('second'), { timeout: 60_000 })
    .toMatchObject({ status: 'degraded', sink: refused })
  expect((await readSinkHealth('first')).sink?.state).toBe('ok')
  const stranger = await world().call('consensus', 'GET', '/health')
  expect([stranger.status, stranger.json]).toEqual([200, { status: 'degraded', service: 'consensus-service' }])
  second.answerWith()
  world().wakeWorker('consensus', 'relay')
  await waitUntilDelivered(person, id)
  const taken = { state: 'ok', detail: expect.stringMatching(/^delivered, /) }
  await expect.poll(() => readSinkHealth('second'), { timeout: 60_000 }).toMatchObject({ status: 'ok', sink: taken })
})

test('a sink that is down holds up no other', async () => {
  const person = await createOperator(world())
  first.answerWith(...Array.from({ length: 50 }, () => 503))
  const id = await ratifySession(person)
  await waitUntil(() => selectDeliveries(id, second).length === 1)
  await waitUntil(async () => (await person.ok(get, { id })).undelivered === 1)
  first.answerWith()
  world().wakeWorker('consensus', 'relay')
  await waitUntilDelivered(person, id)
  expect(selectDeliveries(id, first).at(-1)).toMatchObject({ event: 'ratified', answered: 204 })
  expect(selectDeliveries(id, second)).toHaveLength(1)
})

test('tries a slow sink once in a run, however many deliveries are pending for it', async () => {
  const person = await createOperator(world())
  first.answerWith(...Array.from({ length: 1_000 }, () => 503))
  const ids = await Promise.all(Array.from({ length: 4 }, () => ratifySession(person)))
  for (const id of ids) await waitUntil(async () => (await person.ok(get, { id })).undelivered === 1)
  const before = first.deliveries.length
  first.answerAfter(1_100)
  await waitUntil(() => {
    world().wakeWorker('consensus', 'relay')
    return first.deliveries.length > before + 3
  })
  // The run that was under way when the sink became slow may have been at any of them; each later one begins anew.
  const attempted = first.deliveries.slice(before + 1).map(({ session_id }) => session_id)
  expect(new Set(attempted)).toEqual(new Set(ids.toSorted().slice(0, 1)))
  const newer = await ratifySession(person)
  await waitUntil(() => selectDeliveries(newer, second).length === 1)
  first.answerAfter(0)
  first.answerWith()
  for (const id of [...ids, newer]) {
    world().wakeWorker('consensus', 'relay')
    await waitUntilDelivered(person, id)
    expect(selectDeliveries(id, second)).toHaveLength(1)
  }
})

test('a cancel after a ratification sends a retraction of its own id', async () => {
  const person = await createOperator(world())
  const id = await ratifySession(person)
  await waitUntilDelivered(person, id)
  await person.ok(cancel, { id })
  await waitUntilDelivered(person, id)
  const delivered = selectDeliveries(id, first).map(({ event, id: event_id, isSealed }) => ({
    event,
    event_id,
    isSealed,
  }))
  expect(delivered).toEqual([
    { event: 'ratified', event_id: `${id}:emission:ratified:first`, isSealed: true },
    { event: 'retracted', event_id: `${id}:emission:retracted:first`, isSealed: true },
  ])
})

test('a cancel right behind a ratification never overtakes it', async () => {
  const person = await createOperator(world())
  const sessions = await Promise.all(Array.from({ length: 10 }, () => openSession(person, { m: 1, n: 2 })))
  await Promise.all(sessions.map(({ id }) => person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })))
  await Promise.all(sessions.map(({ id }) => person.ok(cancel, { id })))
  for (const { id } of sessions) {
    const session = await waitUntilDelivered(person, id)
    expect(session).toMatchObject({ state: 'WITHDRAWN', evidence_block_id: expect.any(String) })
    for (const sink of [first, second]) {
      const { evidence_block_id } = session
      expect(selectDeliveries(id, sink)).toMatchObject([
        { event: 'ratified', evidence_block_id },
        { event: 'retracted', evidence_block_id },
      ])
    }
  }
})

test('a session that never was ratified tells the sinks nothing when it is cancelled', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 1, n: 2 })
  await person.ok(cancel, { id })
  await waitUntilDelivered(person, id)
  expect([...selectDeliveries(id, first), ...selectDeliveries(id, second)]).toEqual([])
})

test('a decision by attestation goes the same way', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0) })
  await person.ok(contribute, { id, ...buildOpinionInput('c2', 1) })
  await person.ok(attest, { id, decision: 'non_match', rationale: 'the left one is a photograph' })
  await waitUntilDelivered(person, id)
  expect(selectDeliveries(id, second)).toMatchObject([{ event: 'ratified', decision: 'non_match', attested: true }])
})
