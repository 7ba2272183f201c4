// Insights over HTTP: links, investigation, editions, closing, and the ledger that keeps it all.
import { expect, test } from 'vitest'
import { attest } from '../../../daemon/roles/intelligence/edition/attest.ts'
import { draft } from '../../../daemon/roles/intelligence/edition/draft.ts'
import { close } from '../../../daemon/roles/intelligence/insight/close.ts'
import { get as insight } from '../../../daemon/roles/intelligence/insight/get.ts'
import { list as insightList } from '../../../daemon/roles/intelligence/insight/list.ts'
import { open } from '../../../daemon/roles/intelligence/insight/open.ts'
import { start } from '../../../daemon/roles/intelligence/insight/start.ts'
import { list as ledger } from '../../../daemon/roles/intelligence/ledger/list.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openInsight, raiseSignal, setUpIntelligenceSite, waitUntilOutboxEmpty } from './intelligence-site.ts'

const world = setUpIntelligenceSite()

async function readLedger(person: CheckedClient, uid: string) {
  await waitUntilOutboxEmpty(world())
  return (await person.ok(ledger, { uid, limit: 500 })).items
}

/** The uid of an edition, added to the insight. */
async function addEdition(person: CheckedClient, uid: string, closes: boolean): Promise<string> {
  const { editions } = await person.ok(draft, { uid, title: 'What we know', summary: 'Engine trouble.', closes })
  return editions.at(-1)?.edition_id ?? ''
}

test('an insight names the signal it began with, and both know of each other', async () => {
  const ann = await world().as()
  const signal_id = await raiseSignal(ann)
  const made = await ann.ok(open, { signal_id, title: 'Why is she there?' })
  expect(made).toMatchObject({
    state: 'open',
    entry_context: { type: 'signal', trigger: signal_id },
    linked_signal_ids: [signal_id],
  })
  expect(await readLedger(ann, made.uid)).toMatchObject([
    { seq: 1, type: 'insight_opened', by: 'ann', signal_id },
    { seq: 2, type: 'signal_linked', by: 'ann', signal_id, status: 'new' },
  ])
  const seen = await ann.ok(get, { uid: signal_id })
  expect(seen.linked_insight_ids).toEqual([made.uid])
  expect(seen.metadata.status_history).toMatchObject([{ from: 'new', to: 'new', by: 'ann' }])
})

test('from link to attested edition: signals follow, the ledger tells each step, and only then it is closed', async () => {
  const ann = await world().as()
  const [first, second] = [await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await openInsight(ann, first)
  const linked = await ann.ok(linkInsight, { uid: second, insight_id: uid, rationale: 'same berth' })
  expect(linked).toMatchObject({ status: 'new', linked_insight_ids: [uid] })
  expect(linked.metadata.status_history.at(-1)).toMatchObject({ from: 'new', to: 'new', rationale: 'same berth' })
  await ann.ok(setDisposition, { uid: second, disposition: 'acknowledged', rationale: 'looking' })
  await ann.ok(start, { uid })
  await waitUntilOutboxEmpty(world())
  for (const each of [first, second]) expect((await ann.ok(get, { uid: each })).status).toBe('investigating')
  const edition_id = await addEdition(ann, uid, true)
  expect(await ann.ok(attest, { uid, edition_id, rationale: 'agreed' })).toMatchObject({
    closing_edition_id: edition_id,
  })
  const events = await readLedger(ann, uid)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  const changes = events.flatMap((each) =>
    each.type === 'signal_disposition_set' && each.signal_id === second ? [`${each.from} > ${each.to}`] : [],
  )
  expect(changes).toEqual(['new > acknowledged', 'acknowledged > investigating', 'investigating > resolved'])
  for (const each of [first, second]) {
    const { status, metadata } = await ann.ok(get, { uid: each })
    expect(status).toBe('resolved')
    expect(metadata).toMatchObject({ resolved_by_edition: edition_id, resolved_by_insight: uid })
  }
  expect(await ann.ok(insight, { uid })).toMatchObject({ state: 'closed', closed_by: 'ann', settled: true })
  expect(events.filter(({ type }) => type === 'edition_attested' || type === 'insight_closed')).toMatchObject([
    { type: 'edition_attested', edition_id, closes: true },
    { type: 'insight_closed', edition_id },
  ])
})

test('closing is refused while linked signals are open, and names each of them', async () => {
  const ann = await world().as()
  const [first, second, third] = [await raiseSignal(ann), await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await openInsight(ann, first)
  for (const each of [second, third]) await ann.ok(linkInsight, { uid: each, insight_id: uid })
  await ann.ok(setDisposition, { uid: second, disposition: 'dismissed', rationale: 'a buoy' })
  const { problem } = await ann.call(close, { uid, rationale: 'done' })
  expect(problem).toMatchObject({ code: 'wrong_state', status: 409 })
  expect(problem?.detail).toContain(`${first} (new), ${third} (new)`)
  expect(problem?.errors).toHaveLength(2)
  for (const each of [first, third])
    await ann.ok(setDisposition, { uid: each, disposition: 'dismissed', rationale: 'a buoy, too' })
  expect(await ann.ok(close, { uid, rationale: 'three buoys' })).toMatchObject({ state: 'closed' })
  expect((await readLedger(ann, uid)).at(-1)).toMatchObject({ type: 'insight_closed', rationale: 'three buoys' })
})

test('an edition cannot close over a signal that nobody has looked into', async () => {
  const ann = await world().as()
  const [first, late] = [await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await openInsight(ann, first)
  const early = await addEdition(ann, uid, true)
  expect(await ann.refusal(attest, { uid, edition_id: early })).toBe('wrong_state')
  await ann.ok(start, { uid })
  await ann.ok(linkInsight, { uid: late, insight_id: uid })
  const { problem } = await ann.call(attest, { uid, edition_id: early })
  expect(problem?.detail).toContain(`: ${late} (new)`)
  const interim = await addEdition(ann, uid, false)
  await ann.ok(attest, { uid, edition_id: interim })
  expect(await ann.refusal(attest, { uid, edition_id: interim })).toBe('wrong_state')
  await ann.ok(setDisposition, { uid: late, disposition: 'dismissed', rationale: 'old' })
  await ann.ok(attest, { uid, edition_id: early })
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(insight, { uid })).toMatchObject({ state: 'closed', closing_edition_id: early })
})

test('a closed insight takes no link, no edition, no start and no second closing', async () => {
  const ann = await world().as()
  const [first, other] = [await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await openInsight(ann, first)
  await ann.ok(setDisposition, { uid: first, disposition: 'dismissed', rationale: 'nothing' })
  await ann.ok(close, { uid, rationale: 'nothing' })
  expect(await ann.refusal(linkInsight, { uid: other, insight_id: uid })).toBe('wrong_state')
  expect(await ann.refusal(draft, { uid, title: 't', summary: '' })).toBe('wrong_state')
  expect(await ann.refusal(start, { uid })).toBe('wrong_state')
  expect(await ann.refusal(close, { uid, rationale: 'again' })).toBe('wrong_state')
  expect((await ann.ok(get, { uid: other })).linked_insight_ids).toEqual([])
  // An existing link is not a new one.
  await ann.ok(linkInsight, { uid: first, insight_id: uid })
  expect((await ann.ok(insight, { uid })).linked_signal_ids).toEqual([first])
})

test('If-Match of a link speaks of the insight, and the signal follows all the same', async () => {
  const ann = await world().as()
  const uid = await openInsight(ann, await raiseSignal(ann))
  await waitUntilOutboxEmpty(world())
  const { version } = await ann.ok(insight, { uid })
  const other = await raiseSignal(ann)
  const link = { uid: other, insight_id: uid }
  expect(await ann.refusal(linkInsight, link, { 'if-match': `"${version + 7}"` })).toBe('precondition_failed')
  await ann.ok(linkInsight, link, { 'if-match': `"${version}"` })
  await waitUntilOutboxEmpty(world())
  expect((await ann.ok(get, { uid: other })).linked_insight_ids).toEqual([uid])
})

test('lists hold insights by state', async () => {
  const ann = await world().as()
  const uid = await openInsight(ann, await raiseSignal(ann))
  const idsIn = async (state: 'open' | 'closed') =>
    (await ann.ok(insightList, { state, limit: 500 })).items.map((each) => each.uid)
  expect(await idsIn('open')).toContain(uid)
  expect(await idsIn('closed')).not.toContain(uid)
})

test('an insight holds the labels of its signals, and hides a signal from callers below it', async () => {
  const ann = await world().as()
  const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const plain = await raiseSignal(ann, { classification: 'UNCLASSIFIED' })
  const secret = await raiseSignal(ann, { classification: 'SECRET' })
  const uid = await openInsight(ann, plain)
  expect(await ann.refusal(linkInsight, { uid: secret, insight_id: uid })).toBe('label_denied')
  const made = await ann.ok(open, { signal_id: plain, title: 'Both', classification: 'SECRET' })
  await ann.ok(linkInsight, { uid: secret, insight_id: made.uid })
  await ann.ok(start, { uid: made.uid })
  const edition_id = await addEdition(ann, made.uid, true)
  await ann.ok(attest, { uid: made.uid, edition_id })
  await waitUntilOutboxEmpty(world())
  const seen = await low.ok(get, { uid: plain })
  expect(seen).toMatchObject({ status: 'resolved', linked_insight_ids: [uid] })
  expect(JSON.stringify(seen)).not.toMatch(new RegExp(`${made.uid}|${edition_id}`))
  expect(await low.refusal(insight, { uid: made.uid })).toBe('not_found')
  expect(await low.refusal(ledger, { uid: made.uid })).toBe('not_found')
  expect(await low.refusal(linkInsight, { uid: plain, insight_id: made.uid })).toBe('not_found')
  // A signal above the caller does not exist, for any insight.
  expect(await low.refusal(linkInsight, { uid: secret, insight_id: uid })).toBe('not_found')
  expect(await low.refusal(open, { signal_id: secret, title: 'guess' })).toBe('not_found')
  expect((await ann.ok(get, { uid: plain })).metadata).toMatchObject({ resolved_by_insight: made.uid })
})

test('work cut short by a stop is done after the start, once', async () => {
  const ann = await world().as()
  const signals = await Promise.all(Array.from({ length: 30 }, () => raiseSignal(ann)))
  const uid = await openInsight(ann, signals[0] ?? '')
  await Promise.all(signals.slice(1).map((each) => ann.ok(linkInsight, { uid: each, insight_id: uid })))
  await ann.ok(start, { uid })
  const edition_id = await addEdition(ann, uid, true)
  // Signals that `start` has not reached yet are none that nobody has looked into.
  await ann.ok(attest, { uid, edition_id })
  await world().restart()
  const events = await readLedger(ann, uid)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  const countEvents = (type: string) => events.filter((each) => each.type === type).length
  expect([countEvents('signal_linked'), countEvents('signal_disposition_set'), countEvents('insight_closed')]).toEqual([
    30, 60, 1,
  ])
  for (const each of signals) expect((await ann.ok(get, { uid: each })).status).toBe('resolved')
})
