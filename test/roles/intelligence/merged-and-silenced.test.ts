// Merged and silenced signals elsewhere: in exports, ledgers, statistics, plans, the change log and among similar ones.
import { expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import { plan } from '../../../daemon/roles/intelligence/bulk/plan.ts'
import { get as insight } from '../../../daemon/roles/intelligence/insight/get.ts'
import { insights, type StoredInsight } from '../../../daemon/roles/intelligence/insight/model.ts'
import { openInsight as openedAbout } from '../../../daemon/roles/intelligence/insight/rules.ts'
import { list as ledger } from '../../../daemon/roles/intelligence/ledger/list.ts'
import { beginMerge } from '../../../daemon/roles/intelligence/merge/rules.ts'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { changesOf } from '../../../daemon/roles/intelligence/signal/changes-of.ts'
import { exportStix } from '../../../daemon/roles/intelligence/signal/export.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { merge } from '../../../daemon/roles/intelligence/signal/merge.ts'
import { type StoredSignal, signals } from '../../../daemon/roles/intelligence/signal/model.ts'
import { setDisposition } from '../../../daemon/roles/intelligence/signal/set-disposition.ts'
import { similar } from '../../../daemon/roles/intelligence/signal/similar.ts'
import { statistics } from '../../../daemon/roles/intelligence/signal/statistics.ts'
import { unmerge } from '../../../daemon/roles/intelligence/signal/unmerge.ts'
import { create as silence } from '../../../daemon/roles/intelligence/silence/create.ts'
import { end } from '../../../daemon/roles/intelligence/silence/end.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { openInsight, raiseSignal, setUpIntelligenceSite, waitUntilOutboxEmpty } from './intelligence-site.ts'

const world = setUpIntelligenceSite()
const rationale = 'one and the same'
async function readStoredSignal(uid: string): Promise<StoredSignal> {
  const doc = await world().store('intelligence').get(signals, uid)
  return doc?.value ?? expect.fail(`there is no ${uid}`)
}

/** As somebody opened it when nothing had become of the signal yet: the link is still to come to the signal. */
async function openUnlinkedInsight(trigger: string, label: Label, id: string): Promise<void> {
  const { tenant_id } = await readStoredSignal(trigger)
  const at = new Date(world().clock.now()).toISOString()
  const begun: StoredInsight = {
    ...{ tenant_id, label, created_by: 'ann', created_at: at, updated_at: at, request_digest: '' },
    ...{ title: 'Why?', state: 'open', entry_context: { type: 'signal', trigger } },
    ...{ links: [], editions: [], events: 0, pending: [], owes: 0 },
  }
  const value = openedAbout(begun, { signal_id: trigger, status: 'new', steps: 0 }, { by: 'ann', at })
  await world().store('intelligence').create(insights, id, value)
  world().wakeWorker('intelligence', 'relay')
  await waitUntilOutboxEmpty(world())
}

/** Signals about the subject that arrive under a silence of its own. */
async function raiseSilenced(id: string, more: object = {}): Promise<string> {
  const [olga, ann] = [await world().as({ subject: 'olga', roles: ['operator'] }), await world().as()]
  const ends_at = new Date(world().clock.now() + 3_600_000).toISOString()
  const { uid } = await olga.ok(silence, { matchers: { subject_id: [id] }, reason: 'a drill', ends_at, ...more })
  const made = await raiseSignal(ann, { subject: { type: 'sensor', id, name: id } })
  await olga.ok(end, { uid })
  return made
}

test('exports nothing that was reported of a signal while it was higher, for any reader', async () => {
  const ann = await world().as()
  const classification = { level: 'UNCLASSIFIED', releasable_to: ['tenant-a', 'FRA'] }
  const uid = await raiseSignal(ann, { signal_type: 'outgoing', classification })
  await ann.ok(acknowledge, { uid, note: 'a plain note' })
  const noted = await raiseSignal(ann, { signal_type: 'outgoing', classification })
  const high = { level: 'SECRET', releasable_to: ['tenant-a'] }
  const secrets = [await raiseSignal(ann, { classification: high }), await raiseSignal(ann, { classification: high })]
  for (const [at, into] of [uid, noted].entries())
    await ann.ok(merge, { uid: into, signal_ids: [secrets[at] ?? ''], rationale: 'a hidden reason' })
  await ann.ok(acknowledge, { uid: noted, note: 'a hidden note' })
  await ann.ok(setDisposition, { uid, disposition: 'dismissed', rationale: 'a hidden reason' })
  for (const each of secrets) await ann.ok(unmerge, { uid: each, rationale: 'a hidden end' })
  await waitUntilOutboxEmpty(world())
  const { bundle, left_out } = await ann.ok(exportStix, { signal_type: 'outgoing', releasable_to: 'FRA' })
  const text = JSON.stringify(bundle)
  expect([left_out, text.includes('a plain note')]).toEqual([0, true])
  expect(text).not.toContain('hidden')
  expect(JSON.stringify(await ann.ok(get, { uid }))).toContain('a hidden reason')
})

test('an export of a signal that is as high holds these reports', async () => {
  const ann = await world().as()
  const [one, two] = [await raiseSignal(ann, { signal_type: 'kept' }), await raiseSignal(ann)]
  await ann.ok(merge, { uid: one, signal_ids: [two], rationale: 'kept for all' })
  expect(JSON.stringify(await ann.ok(exportStix, { signal_type: 'kept' }))).toContain('kept for all')
})

test('an insight whose signal was raised above it before it followed drops the link, and gets no reason above it', async () => {
  const ann = await world().as()
  const lou = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const plain = await raiseSignal(ann, { classification: 'UNCLASSIFIED' })
  const secret = await raiseSignal(ann, { classification: 'SECRET' })
  const { label } = await readStoredSignal(plain)
  await ann.ok(merge, { uid: plain, signal_ids: [secret], rationale: 'a hidden reason' })
  await openUnlinkedInsight(plain, label, 'ins_raced')
  await ann.ok(setDisposition, { uid: plain, disposition: 'dismissed', rationale: 'a hidden reason' })
  await waitUntilOutboxEmpty(world())
  expect(await lou.ok(insight, { uid: 'ins_raced' })).toMatchObject({ linked_signal_ids: [], settled: true })
  expect((await ann.ok(get, { uid: plain })).linked_insight_ids).toEqual([])
  const { items } = await lou.ok(ledger, { uid: 'ins_raced', limit: 500 })
  expect(items.map(({ type }) => type)).toEqual(['insight_opened', 'signal_linked', 'signal_unlinked'])
  await ann.ok(unmerge, { uid: secret, rationale: 'a hidden end' })
  await openUnlinkedInsight(plain, label, 'ins_late')
  await waitUntilOutboxEmpty(world())
  const { items: late } = await lou.ok(ledger, { uid: 'ins_late', limit: 500 })
  expect(late.at(-1)).toMatchObject({ type: 'signal_disposition_set', to: 'dismissed' })
  expect(JSON.stringify(late)).not.toContain('hidden')
})

test('judges sources by the signals of plain lists, and duplicates by their survivor', async () => {
  const ann = await world().as()
  const source = { type: 'polling' as const, name: 'judged' }
  const detected_at = new Date(world().clock.now()).toISOString()
  const [one, two, three] = [
    await raiseSignal(ann, { source, detected_at }),
    await raiseSignal(ann, { source, detected_at }),
    await raiseSignal(ann, { source, detected_at }),
  ]
  await ann.ok(setDisposition, { uid: three, disposition: 'dismissed', rationale })
  await ann.ok(merge, { uid: one, signal_ids: [two, three], rationale })
  const judged = async () => (await ann.ok(statistics, { source_name: 'judged' })).total.counts
  expect(await judged()).toEqual({ open: 1, resolved: 0, dismissed: 0, archived: 0 })
  await ann.ok(unmerge, { uid: three, rationale })
  expect(await judged()).toEqual({ open: 1, resolved: 0, dismissed: 1, archived: 0 })
})

test('merged and silenced signals are like none, also where they are named or in the same insight', async () => {
  const ann = await world().as()
  const about = { subject: { type: 'sensor' as const, id: 'alike', name: 'alike' } }
  const hidden = await raiseSilenced('alike')
  const uid = await raiseSignal(ann, { ...about, related_signals: [hidden] })
  const [twin, away] = [await raiseSignal(ann, about), await raiseSignal(ann, about)]
  await ann.ok(merge, { uid: twin, signal_ids: [away], rationale })
  const { items } = await ann.ok(similar, { uid, min_score: 90 })
  expect(items.map(({ signal }) => signal.uid)).toEqual([twin])
})

test('a plan counts merged signals as refused, by name and by subject', async () => {
  const ann = await world().as()
  const about = (id: string) => ({ subject: { type: 'asset' as const, id, name: id } })
  const [one, two] = [await raiseSignal(ann, about('planned')), await raiseSignal(ann, about('planned-here'))]
  await raiseSignal(ann, about('planned-here'))
  await ann.ok(merge, { uid: one, signal_ids: [two], rationale })
  const planned = async (changes: object) => {
    const { matches, would_be_done } = await ann.ok(plan, { ...changes, disposition: 'dismissed' })
    return [matches, would_be_done]
  }
  expect(await planned({ signal_ids: [one, two] })).toEqual([2, 1])
  expect(await planned({ filter: { subject_id: 'planned-here' } })).toEqual([2, 1])
  expect((await planned({ filter: { visibility: 'merged' } }))[1]).toBe(0)
})

test('a silenced survivor is listed while it stands for others', async () => {
  const ann = await world().as()
  const [hidden, listed] = [await raiseSilenced('survivor'), await raiseSignal(ann)]
  const visibility = async () => (await ann.ok(get, { uid: hidden })).visibility
  await ann.ok(merge, { uid: hidden, signal_ids: [listed], rationale })
  expect(await visibility()).toBe('listed')
  await ann.ok(unmerge, { uid: listed, rationale })
  expect(await visibility()).toBe('silenced')
})

test('the change log reports a silence to cleared readers, and a merge as the signal shows it', async () => {
  const ann = await world().as()
  const lou = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const hidden = await raiseSilenced('logged', { classification: 'SECRET' })
  const far = await raiseSignal(ann)
  const insight_id = await openInsight(ann, far)
  await waitUntilOutboxEmpty(world())
  await ann.ok(merge, { uid: hidden, signal_ids: [far], rationale })
  await waitUntilOutboxEmpty(world())
  const fieldsOf = async (person: typeof ann) =>
    (await person.ok(changesOf, { uid: hidden, limit: 500 })).items.flatMap(({ by, fields }) =>
      fields.map(({ field, to }) => [field, to, by]),
    )
  const seen = await waitUntil(async () => {
    const fields = await fieldsOf(ann)
    return fields.some(([field]) => field === 'linked_insight_ids') && fields
  })
  const { silence_id } = await ann.ok(get, { uid: hidden })
  expect(seen).toEqual(
    expect.arrayContaining([
      ['visibility', 'silenced', 'ann'],
      ['silence_id', silence_id, 'ann'],
      ['merged_signals', [far], 'ann'],
      ['linked_insight_ids', insight_id, 'ann'],
    ]),
  )
  expect((await fieldsOf(lou)).map(([field]) => field)).not.toContain('silence_id')
})

test('why a signal was left out that the relay could not merge any more is in the audit', async () => {
  const ann = await world().as()
  const [one, two, three] = [await raiseSignal(ann), await raiseSignal(ann), await raiseSignal(ann)]
  const before = await readStoredSignal(two)
  await ann.ok(merge, { uid: three, signal_ids: [two], rationale })
  const policy = { policy: 'SITE', levels: ['UNCLASSIFIED'] }
  const change = { by: 'ann', at: before.created_at, rationale, key: 'k' }
  const setting = { into: one, brought: [], viewer: { tenant_id: before.tenant_id, clearance: undefined }, policy }
  // As one that was read by a merging before the other one, and is reported by the relay after it.
  await world()
    .store('intelligence')
    .update(signals, one, ({ value }) => {
      const next = beginMerge(value, [{ signal_id: two, value: before }], change, setting)
      if (next instanceof Error) throw next
      return { next, answer: undefined }
    })
  world().wakeWorker('intelligence', 'relay')
  await waitUntilOutboxEmpty(world())
  expect(await ann.ok(get, { uid: one })).not.toHaveProperty('merged_signals')
  const { token } = await world().as({ roles: ['auditor'] })
  const { json } = await world().call('intelligence', 'GET', `/api/v1/audit?target=${one}`, undefined, { token })
  const events = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event)
  expect(events).toContainEqual(
    expect.objectContaining({
      action: 'intelligence.signal.merge-settled',
      detail: expect.objectContaining({ signal: two, left_out: expect.stringContaining('is merged already') }),
    }),
  )
})
