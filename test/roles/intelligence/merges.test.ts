// Duplicates merged into one signal over HTTP, and taken out again as they were.
import { expect, test } from 'vitest'
import { plan } from '../../../daemon/roles/intelligence/bulk/plan.ts'
import { close } from '../../../daemon/roles/intelligence/insight/close.ts'
import { get as insight } from '../../../daemon/roles/intelligence/insight/get.ts'
import { open } from '../../../daemon/roles/intelligence/insight/open.ts'
import { start } from '../../../daemon/roles/intelligence/insight/start.ts'
import { list as ledger } from '../../../daemon/roles/intelligence/ledger/list.ts'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { byEntity } from '../../../daemon/roles/intelligence/signal/by-entity.ts'
import { changesOf } from '../../../daemon/roles/intelligence/signal/changes-of.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { list } from '../../../daemon/roles/intelligence/signal/list.ts'
import { merge } from '../../../daemon/roles/intelligence/signal/merge.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import { unmerge } from '../../../daemon/roles/intelligence/signal/unmerge.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openInsight, raiseSignal, setUpIntelligenceSite, waitUntilOutboxEmpty } from './intelligence-site.ts'

const world = setUpIntelligenceSite()
const rationale = 'one and the same'

const mergeSignals = (person: CheckedClient, uid: string, ...signal_ids: string[]) =>
  person.ok(merge, { uid, signal_ids, rationale })

/** All that a signal says but how often it was changed. */
async function readComparable(person: CheckedClient, uid: string) {
  const { version: _version, updated_at: _at, metadata, ...rest } = await person.ok(get, { uid })
  return { ...rest, history: metadata.status_history.filter(({ event }) => event === undefined) }
}

async function readLedger(person: CheckedClient, uid: string) {
  await waitUntilOutboxEmpty(world())
  const { items } = await person.ok(ledger, { uid, limit: 500 })
  return items.map((event) => `${event.type} ${'signal_id' in event ? event.signal_id : ''}`)
}

test('merged signals leave plain lists, say where they went, and are moved by nobody; taken out, they are as they were', async () => {
  const ann = await world().as()
  const subject = { type: 'asset' as const, id: 'twin', name: 'Twin' }
  const far = await raiseSignal(ann)
  const one = await raiseSignal(ann, { subject })
  const two = await raiseSignal(ann, { subject, related_signals: [far] })
  await ann.ok(acknowledge, { uid: two, note: 'on it' })
  const before = [await readComparable(ann, one), await readComparable(ann, two)]
  const seen = await mergeSignals(ann, one, two, two)
  expect(seen).toMatchObject({
    ...{ uid: one, status: 'new', visibility: 'listed', related_signals: [far] },
    merged_signals: [{ signal_id: two, by: 'ann', settled: true }],
  })
  expect(seen.metadata.status_history).toMatchObject([{ from: 'new', to: 'new', event: 'took_in', rationale }])
  expect(seen).not.toHaveProperty('left_out')
  expect(await ann.ok(get, { uid: two })).toMatchObject({
    ...{ status: 'acknowledged', visibility: 'merged', merged_into: one, merged_by: 'ann' },
  })
  const found = async (visibility?: 'merged') =>
    (await ann.ok(list, { subject_id: 'twin', ...(visibility ? { visibility } : {}) })).items.map(({ uid }) => uid)
  expect([await found(), await found('merged')]).toEqual([[one], [two]])
  const move = { uid: two, disposition: 'dismissed' as const, rationale }
  expect(await ann.refusal(setDisposition, move)).toBe('wrong_state')
  expect(await ann.refusal(open, { signal_id: two, title: 'Why?' })).toBe('wrong_state')
  expect(await ann.ok(plan, { filter: { subject_id: 'twin' }, disposition: 'dismissed' })).toMatchObject({ matches: 1 })
  // A repeat changes nothing.
  expect((await mergeSignals(ann, one, two)).version).toBe(seen.version)
  const out = await ann.ok(unmerge, { uid: two, rationale: 'two ships' })
  expect(out.metadata.status_history.at(-1)).toMatchObject({ event: 'unmerged', rationale: 'two ships' })
  await waitUntilOutboxEmpty(world())
  expect([await readComparable(ann, one), await readComparable(ann, two)]).toEqual(before)
  expect(await ann.refusal(unmerge, { uid: two, rationale })).toBe('wrong_state')
  await ann.ok(setDisposition, move)
})

test('a merged signal about another subject is still found by it, as a way to the one that stands for it', async () => {
  const ann = await world().as()
  const about = (id: string) => ({ subject: { type: 'asset' as const, id, name: id } })
  const [one, two] = [await raiseSignal(ann, about('imo-1')), await raiseSignal(ann, about('mmsi-1'))]
  await mergeSignals(ann, one, two)
  const { items } = await ann.ok(byEntity, { entity_id: 'mmsi-1' })
  expect(items).toMatchObject([{ uid: two, merged_into: one }])
  expect((await ann.ok(get, { uid: one })).merged_signals).toMatchObject([{ subject: { id: 'mmsi-1' } }])
})

test('insights follow: the survivor is linked in its place, closing waits for the survivor alone, and the ledger tells it', async () => {
  const ann = await world().as()
  const [one, two] = [await raiseSignal(ann), await raiseSignal(ann)]
  const [first, second] = [await openInsight(ann, two), await openInsight(ann, two)]
  await ann.ok(linkInsight, { uid: one, insight_id: second })
  const before = await readComparable(ann, one)
  await mergeSignals(ann, one, two)
  await waitUntilOutboxEmpty(world())
  expect((await ann.ok(get, { uid: one })).linked_insight_ids.toSorted()).toEqual([first, second].toSorted())
  expect(await ann.ok(insight, { uid: first })).toMatchObject({
    ...{ linked_signal_ids: [two, one], merged_signals: [{ signal_id: two, merged_into: one }] },
  })
  const entries = await readLedger(ann, first)
  expect(entries.slice(2)).toEqual([`signal_merged ${two}`, `signal_linked ${one}`])
  const { problem } = await ann.call(close, { uid: first, rationale })
  expect(problem?.errors.map(({ message }) => message)).toEqual([`${one} is new`])
  await ann.ok(start, { uid: first })
  await waitUntilOutboxEmpty(world())
  expect([(await readComparable(ann, one)).status, (await readComparable(ann, two)).status]).toEqual([
    'investigating',
    'new',
  ])
  await ann.ok(unmerge, { uid: two, rationale })
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(insight, { uid: first })).toMatchObject({ linked_signal_ids: [two] })
  expect(await ann.ok(insight, { uid: first })).not.toHaveProperty('merged_signals')
  expect((await readComparable(ann, one)).linked_insight_ids).toEqual(before.linked_insight_ids)
  expect(await ann.ok(insight, { uid: second })).toMatchObject({ linked_signal_ids: [two, one] })
  expect((await readLedger(ann, first)).slice(4)).toEqual([
    ...['investigation_started ', `signal_disposition_set ${one}`, `signal_unmerged ${two}`],
  ])
})

test('an insight closes over the survivor, and stays as it was closed when the signal is taken out', async () => {
  const ann = await world().as()
  const [one, two] = [await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await openInsight(ann, two)
  await mergeSignals(ann, one, two)
  await waitUntilOutboxEmpty(world())
  await ann.ok(setDisposition, { uid: one, disposition: 'dismissed', rationale })
  await ann.ok(close, { uid, rationale })
  await ann.ok(unmerge, { uid: two, rationale })
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(get, { uid: two })).toMatchObject({ status: 'new', visibility: 'listed' })
  expect(await ann.ok(insight, { uid })).toMatchObject({
    ...{ state: 'closed', linked_signal_ids: [two, one], merged_signals: [{ signal_id: two, merged_into: one }] },
  })
  expect((await readLedger(ann, uid)).at(-1)).toBe('insight_closed ')
})

test('a link that somebody makes stays, when the signal that had brought it is taken out', async () => {
  const ann = await world().as()
  const [one, two] = [await raiseSignal(ann), await raiseSignal(ann)]
  const insight_id = await openInsight(ann, two)
  await mergeSignals(ann, one, two)
  await waitUntilOutboxEmpty(world())
  await ann.ok(linkInsight, { uid: one, insight_id, rationale: 'this one, too' })
  await ann.ok(unmerge, { uid: two, rationale })
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(get, { uid: one })).toMatchObject({ linked_insight_ids: [insight_id] })
  expect(await ann.ok(insight, { uid: insight_id })).toMatchObject({ linked_signal_ids: [two, one] })
})

test('a survivor may be merged with all that it stands for, and what was merged last is taken out first', async () => {
  const ann = await world().as()
  const [one, two, three] = [await raiseSignal(ann), await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await openInsight(ann, three)
  await waitUntilOutboxEmpty(world())
  const before = await readComparable(ann, three)
  await mergeSignals(ann, two, three)
  await waitUntilOutboxEmpty(world())
  await mergeSignals(ann, one, two)
  expect(await ann.refusal(merge, { uid: two, signal_ids: [one], rationale })).toBe('wrong_state')
  expect(await ann.refusal(merge, { uid: one, signal_ids: [three], rationale })).toBe('wrong_state')
  expect(await ann.refusal(merge, { uid: one, signal_ids: [one], rationale })).toBe('wrong_state')
  expect(await ann.refusal(unmerge, { uid: three, rationale })).toBe('wrong_state')
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(insight, { uid })).toMatchObject({ linked_signal_ids: [three, two, one] })
  for (const each of [two, three]) await ann.ok(unmerge, { uid: each, rationale })
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(insight, { uid })).toMatchObject({ linked_signal_ids: [three] })
  expect(await readComparable(ann, three)).toEqual(before)
})

test('the survivor is as high as all of them, and later reports on it stay so', async () => {
  const ann = await world().as()
  const lou = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const [plain, secret] = [
    await raiseSignal(ann, { classification: 'UNCLASSIFIED' }),
    await raiseSignal(ann, { classification: 'SECRET' }),
  ]
  const other = await raiseSignal(ann, { classification: 'UNCLASSIFIED' })
  expect(await lou.refusal(merge, { uid: plain, signal_ids: [secret], rationale })).toBe('not_found')
  await ann.ok(merge, { uid: plain, signal_ids: [secret], rationale: 'seen by a secret source' })
  expect((await ann.ok(get, { uid: plain })).classification.level).toBe('SECRET')
  expect(await lou.refusal(get, { uid: plain })).toBe('not_found')
  await ann.ok(merge, { uid: plain, signal_ids: [other], rationale: 'a secret, too' })
  await ann.ok(setDisposition, { uid: plain, disposition: 'dismissed', rationale: 'a secret reason' })
  const seen = await lou.ok(get, { uid: other })
  expect([seen.visibility, seen.merged_into]).toEqual(['merged', undefined])
  expect(JSON.stringify(seen)).not.toMatch(/secret/)
  expect(await lou.refusal(unmerge, { uid: other, rationale })).toBe('label_denied')
  await ann.ok(unmerge, { uid: secret, rationale: 'a secret ends' })
  await ann.ok(unmerge, { uid: other, rationale })
  await waitUntilOutboxEmpty(world())
  const low = await lou.ok(get, { uid: plain })
  expect(low).toMatchObject({ status: 'dismissed', classification: { level: 'UNCLASSIFIED' } })
  expect(low.metadata.status_history).toHaveLength(5)
  const log = await lou.ok(changesOf, { uid: plain })
  expect(JSON.stringify([low, log, await lou.ok(changesOf, { uid: other })])).not.toMatch(
    new RegExp(`secret|${secret}`),
  )
  expect((await ann.ok(get, { uid: plain })).metadata.status_history).toMatchObject(
    ['seen by a secret source', 'a secret, too', 'a secret reason', 'a secret ends', rationale].map((why) => ({
      rationale: why,
    })),
  )
})

test('an insight that would not hold the label of all keeps them from being merged', async () => {
  const ann = await world().as()
  const plain = await raiseSignal(ann, { classification: 'UNCLASSIFIED' })
  const secret = await raiseSignal(ann, { classification: 'SECRET' })
  await openInsight(ann, plain)
  await waitUntilOutboxEmpty(world())
  expect(await ann.refusal(merge, { uid: plain, signal_ids: [secret], rationale })).toBe('label_denied')
  expect(await ann.refusal(merge, { uid: secret, signal_ids: [plain], rationale })).toBe('label_denied')
  const bob = await world().as({ subject: 'bob', tenant: 'tenant-b' })
  expect(await bob.refusal(merge, { uid: plain, signal_ids: [secret], rationale })).toBe('not_your_tenant')
  expect(await bob.refusal(unmerge, { uid: plain, rationale })).toBe('not_your_tenant')
})

test('If-Match refers to the survivor, and the others get their reports all the same, also after a stop', async () => {
  const ann = await world().as()
  const [one, two] = [await raiseSignal(ann), await raiseSignal(ann)]
  const uid = await openInsight(ann, two)
  const merge_input = { uid: one, signal_ids: [two], rationale }
  expect(await ann.refusal(merge, merge_input, { 'if-match': '"7"' })).toBe('precondition_failed')
  await waitUntilOutboxEmpty(world())
  const { version } = await ann.ok(get, { uid: one })
  await ann.ok(merge, merge_input, { 'if-match': `"${version}"` })
  await world().restart()
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(get, { uid: two })).toMatchObject({ merged_into: one })
  expect(await ann.ok(insight, { uid })).toMatchObject({ linked_signal_ids: [two, one], settled: true })
})
