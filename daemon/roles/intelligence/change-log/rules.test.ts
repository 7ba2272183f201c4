// Recorded changes: their fields, labels and order, independent of clocks.
import { expect, test } from 'vitest'
import type { StoredSignal } from '../signal/model.ts'
import {
  addInsightLink,
  changeStatus,
  markStepsReported,
  removeInheritedLink,
  resolveByEdition,
} from '../signal/rules.ts'
import { assignPlaces, batchStart, changeId, recordChanges, removeLoggedChanges } from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const secretLabel = { ...label, level: 'SECRET' }
const ann = { by: 'ann', at }

function storedSignalWith(overrides: Partial<StoredSignal> = {}): StoredSignal {
  const signal: StoredSignal = {
    ...{ tenant_id: 'alpha', label, created_by: 'bob', created_at: at, updated_at: at, request_digest: '' },
    ...{ schema_version: '1.1', signal_type: 'test', source: { type: 'manual' }, severity: 'low', title: 't' },
    subject: { type: 'asset', id: 'a', name: 'A' },
    actor: { type: 'person', id: 'bob' },
    ...{ detected_at: at, expires_at: at, status: 'new', metadata: { status_history: [] }, request_key: 'sig_1' },
    ...{ source_type: 'manual', visibility: 'listed', subject_visibility: 'listed' },
    ...{ links: [], subject_id: 'a', owes: 0, revision: 0, untold: [], tally: '', ...overrides },
  }
  return recordChanges(undefined, signal, 'bob')
}

const recordChange = (before: StoredSignal, after: unknown) => recordChanges(before, after as StoredSignal, 'cy')

test('internal fields are neither a change nor a revision', () => {
  const before = storedSignalWith({ links: [{ insight_id: 'ins_1', label: secretLabel, told: 0 }] })
  expect(recordChange(before, markStepsReported(before, 'ins_1', 5))).toMatchObject({
    revision: 1,
    untold: before.untold,
  })
  expect(recordChange(before, { ...before, owes: 1, due_ts: 7, updated_at: 'later' }).untold).toEqual(before.untold)
})

test('a change without a history step is attributed to the writer; a removed value becomes null', () => {
  const before = storedSignalWith({ description: 'old', metadata: { status_history: [], speed: { kn: 3 } } })
  const { description: _description, ...rest } = before
  const after = recordChange(before, {
    ...rest,
    updated_at: 'later',
    metadata: { ...before.metadata, speed: { kn: 4 } },
    label: secretLabel,
  })
  expect(after.untold.at(-1)).toEqual({
    ...{ revision: 2, part: 0, by: 'cy', at: 'later', label: secretLabel },
    fields: [
      { field: 'classification', from: label, to: secretLabel },
      { field: 'description', from: 'old', to: null },
      { field: 'metadata.speed', from: { kn: 3 }, to: { kn: 4 } },
    ],
  })
})

test('changes by an insight are a separate part, under the label of the insight', () => {
  const first = storedSignalWith()
  const second = recordChange(first, addInsightLink(first, { insight_id: 'ins_1', label: secretLabel, told: 0 }, ann))
  const third = recordChange(second, changeStatus(second, 'investigating', ann))
  const last = recordChange(third, resolveByEdition(third, { edition_id: 'edn_1', insight_id: 'ins_1' }, ann))
  const parts = last.untold.map(({ revision, part, label: partLabel, fields }) => [
    ...[revision, part, partLabel.level],
    ...fields.map(({ field }) => field),
  ])
  expect(parts).toEqual([
    [1, 0, 'OPEN', 'status'],
    [2, 0, 'SECRET', 'linked_insight_ids'],
    [3, 0, 'OPEN', 'status'],
    [4, 0, 'OPEN', 'status'],
    [4, 1, 'SECRET', 'metadata.resolved_by_insight', 'metadata.resolved_by_edition'],
  ])
})

test('an inherited link is recorded with author and time, when added and when removed; so is the bulk of a step', () => {
  const item = { signal_id: 'sig_2', key: 'k', state: 'taken' as const, label, related: ['sig_7'], rationale: 'one' }
  const first = storedSignalWith()
  const taking = { ...first, taken_in: [{ ...item, subject: first.subject, ...ann }] }
  const before = recordChange(first, taking)
  expect(before.untold.slice(1).flatMap(({ fields }) => fields)).toEqual([
    { field: 'related_signals', from: null, to: ['sig_7'] },
    { field: 'merged_signals', from: [], to: ['sig_2'] },
  ])
  const laterAction = { by: 'dan', at: '2026-03-02T13:00:00.000Z' }
  const link = { insight_id: 'ins_1', label: secretLabel, told: 0, via: ['sig_2'] }
  const second = recordChange(before, addInsightLink(before, link, laterAction))
  expect(second.untold.at(-1)).toMatchObject({ ...laterAction, fields: [{ field: 'linked_insight_ids', to: 'ins_1' }] })
  const latest = { by: 'eve', at: '2026-03-02T14:00:00.000Z', rationale: 'left' }
  const third = recordChange(second, removeInheritedLink(second, 'ins_1', 'sig_2', latest))
  expect(third.untold.at(-1)).toMatchObject({ by: 'eve', at: latest.at, fields: [{ to: null }] })
  expect(third.metadata.status_history).toMatchObject([{ event: 'linked', by: 'dan' }, { event: 'unlinked' }])
  expect(recordChange(third, changeStatus(third, 'dismissed', { ...ann, bulk: 'blk_1' })).untold.at(-1)).toMatchObject({
    bulk: 'blk_1',
  })
})

test('arrival under a silence is recorded, and its id only for viewers of the silence', () => {
  const arrived = storedSignalWith({ visibility: 'silenced', silence_id: 'sil_1', silence_label: secretLabel })
  expect(arrived.untold).toMatchObject([
    { label, fields: [{ to: 'new' }, { field: 'visibility', from: null, to: 'silenced' }] },
    { label: secretLabel, fields: [{ field: 'silence_id', from: null, to: 'sil_1' }] },
  ])
})

test('a signal holds unlogged changes, and its index field marks it until none is left', () => {
  const first = storedSignalWith()
  const second = recordChange(first, changeStatus(first, 'acknowledged', ann))
  const partlyLogged = removeLoggedChanges(second, [{ revision: 1, part: 0 }])
  expect([partlyLogged.untold.map(({ revision }) => revision), partlyLogged.unlogged]).toEqual([[2], 1])
  const allLogged = removeLoggedChanges(partlyLogged, [{ revision: 2, part: 0 }])
  expect(allLogged.untold).toEqual([])
  expect(allLogged).not.toHaveProperty('unlogged')
})

test('positions are ordered by batch, then time, and by revision within a signal even if the clock was set back', () => {
  const changes = [
    { at: '2026-03-02T12:00:00.000Z', revision: 9, part: 0 },
    { at: '2026-03-02T11:00:00.000Z', revision: 10, part: 0 },
    { at: '2026-03-02T11:00:00.000Z', revision: 10, part: 1 },
  ]
  const places = assignPlaces(7, 'sig_1', changes).map(({ place }) => place)
  expect(places.toSorted()).toEqual(places)
  const [latePlace = ''] = assignPlaces(10, 'sig_0', [{ at: '2020-01-01T00:00:00.000Z', revision: 1, part: 0 }]).map(
    (p) => p.place,
  )
  expect(places.every((place) => place < batchStart(8) && place > batchStart(7) && place < latePlace)).toBe(true)
  expect(changeId({ signal_id: 'sig_1', revision: 10, part: 1 })).toBe('sig_1:10:1')
})
