// Similar signals: found by subject, by relation, by type and by time, with reasons, for cleared callers alone.
import { expect, test } from 'vitest'
import { start } from '../../../daemon/roles/intelligence/insight/start.ts'
import { archive } from '../../../daemon/roles/intelligence/signal/archive.ts'
import { linkInsight } from '../../../daemon/roles/intelligence/signal/link-insight.ts'
import { similar } from '../../../daemon/roles/intelligence/signal/similar.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openInsight, raiseSignal, setUpIntelligenceSite } from './intelligence-site.ts'

const world = setUpIntelligenceSite()

const buildShip = (id: string) => ({ type: 'asset' as const, id, name: id })
const listSimilar = async (person: CheckedClient, uid: string, more: object = {}) =>
  (await person.ok(similar, { uid, ...more })).items

test('lists the most similar first, each with the reasons for its score', async () => {
  const ann = await world().as()
  const about = (id: string, more: object = {}) => raiseSignal(ann, { subject: buildShip(`s1-${id}`), ...more })
  const uid = await about('a')
  const twin = await about('a', { detected_at: '2026-03-03T11:00:00.000Z' })
  const old = await about('a', { detected_at: '2025-03-03T11:00:00.000Z', signal_type: 's1', title: 'engine' })
  const typed = await about('b')
  const far = await about('c', { signal_type: 's1', title: 'else', source: { type: 'manual' } })
  const found = await listSimilar(ann, uid, { limit: 50 })
  const ids = found.map(({ signal }) => signal.uid)
  expect(ids.filter((each) => [twin, old, typed, far, uid].includes(each))).toEqual([twin, typed, old])
  expect(found[0]).toMatchObject({
    score: 99.7,
    reasons: [
      { reason: 'same_subject', points: 40, detail: 's1-a' },
      { reason: 'same_type', points: 15 },
      { reason: 'same_source', points: 15, detail: 'manual desk' },
      { reason: 'words', points: 20, detail: 'anchor aurora seen' },
      { reason: 'near_in_time', points: 9.7, detail: '1 days apart' },
    ],
  })
  expect(found.map(({ score }) => score).toSorted((one, other) => other - one)).toEqual(found.map(({ score }) => score))
  expect(await listSimilar(ann, uid, { min_score: 99 })).toHaveLength(1)
  // A repeat gets the same answer.
  expect(await listSimilar(ann, uid, { limit: 50 })).toEqual(found)
})

test('shared names, and a shared investigation, lead to signals about other objects', async () => {
  const ann = await world().as()
  const lone = (id: string, more: object = {}) =>
    raiseSignal(ann, { subject: buildShip(id), signal_type: id, title: id, source: { type: 'manual' }, ...more })
  const named = await lone('s2-named', { title: 'engine' })
  const uid = await lone('s2-one', { related_signals: [named], title: 'engine' })
  const names = await lone('s2-names', { related_signals: [uid], title: 'engine' })
  const beside = await lone('s2-named', { title: 'engine', detected_at: '2020-01-01T00:00:00.000Z' })
  const insight_id = await openInsight(ann, uid)
  const together = await lone('s2-together', { title: 'engine' })
  await ann.ok(linkInsight, { uid: together, insight_id })
  await ann.ok(linkInsight, { uid, insight_id })
  const found = await listSimilar(ann, uid, { min_score: 20, limit: 50 })
  const why = new Map(
    found.map(({ signal, reasons }) => [signal.uid, reasons.find((r) => r.reason === 'related')?.detail]),
  )
  expect(why.get(named)).toBe(`named by ${uid}`)
  expect(why.get(names)).toBe(`names ${uid}`)
  expect(why.get(together)).toBe(`in ${insight_id}`)
  expect(why.get(beside)).toBe(`subject of ${named}`)
})

test('reveals no signals or insights above the caller, or of another tenant', async () => {
  const ann = await world().as()
  const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const eve = await world().as({ subject: 'eve', tenant: 'tenant-b' })
  const about = { subject: buildShip('s3'), classification: 'UNCLASSIFIED' }
  const uid = await raiseSignal(ann, about)
  const secret = await raiseSignal(ann, { ...about, classification: 'SECRET' })
  const plain = await raiseSignal(ann, about)
  await raiseSignal(eve, about)
  const seen = await listSimilar(low, uid, { min_score: 90 })
  expect(seen.map(({ signal }) => signal.uid)).toEqual([plain])
  expect((await listSimilar(ann, uid, { min_score: 90 })).map(({ signal }) => signal.uid).toSorted()).toEqual(
    [plain, secret].toSorted(),
  )
  expect(await low.refusal(similar, { uid: secret })).toBe('not_found')
  expect(await eve.refusal(similar, { uid })).toBe('not_found')
})

test('a start names open signals like the first that are not linked to it', async () => {
  const ann = await world().as()
  const about = { subject: buildShip('s4') }
  const [first, linked, over, open] = await Promise.all([1, 2, 3, 4].map(() => raiseSignal(ann, about)))
  const uid = await openInsight(ann, first ?? '')
  await ann.ok(linkInsight, { uid: linked ?? '', insight_id: uid })
  await ann.ok(archive, { uid: over ?? '' })
  const { state, similar_signals } = await ann.ok(start, { uid })
  const own = similar_signals.filter(({ signal }) => signal.subject.id === 's4')
  expect([state, own.map(({ signal }) => signal.uid)]).toEqual(['investigating', [open]])
  const { items } = await ann.ok(similar, { uid: first ?? '', only_open: true })
  expect(items.map(({ signal }) => signal.uid)).not.toContain(over)
})
