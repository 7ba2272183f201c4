// The lifecycle of a signal follows the table of transitions, and each step records its history.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { type SignalStatus, type StoredSignal, signalStatus } from './model.ts'
import {
  addInsightLink,
  archiveSignal,
  beginInvestigation,
  changeStatus,
  expireSignal,
  isOpen,
  listReadableStatusSteps,
  listStatusSteps,
  markStepsReported,
  resolveByEdition,
} from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const ann = { by: 'ann', at, rationale: 'seen' }
const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' }

function storedSignalWith(status: SignalStatus, overrides: Partial<StoredSignal> = {}): StoredSignal {
  return {
    ...{ tenant_id: 'alpha', label, created_by: 'bob', created_at: at, updated_at: at, request_digest: '' },
    ...{ schema_version: '1.1', signal_type: 'test', source: { type: 'manual' }, severity: 'low', title: 't' },
    subject: { type: 'asset', id: 'a', name: 'A' },
    actor: { type: 'person', id: 'bob' },
    ...{ detected_at: at, expires_at: at, status, metadata: { status_history: [] }, request_key: 'sig_1' },
    ...{ source_type: 'manual', visibility: 'listed', subject_visibility: 'listed' },
    ...{ links: [], subject_id: 'a', owes: 0, due_ts: 5, revision: 1, untold: [], tally: '', ...overrides },
  }
}

/** Document 001 part C, table of the lifecycle. */
const allowedTransitions = [
  ['new', 'acknowledged'],
  ['new', 'investigating'],
  ['new', 'dismissed'],
  ['acknowledged', 'investigating'],
  ['acknowledged', 'dismissed'],
  ['investigating', 'resolved'],
  ['investigating', 'dismissed'],
]

test('exactly the documented transitions are allowed', () => {
  const allowed = signalStatus.options.flatMap((from) =>
    signalStatus.options
      .filter((to) => !isRefusal(changeStatus(storedSignalWith(from), to, ann)))
      .map((to) => [from, to]),
  )
  expect(allowed.sort()).toEqual(allowedTransitions.toSorted())
  expect(signalStatus.options.filter((status) => !isOpen(status))).toEqual(['resolved', 'dismissed'])
})

test('a refusal names the allowed statuses', () => {
  expect(changeStatus(storedSignalWith('acknowledged'), 'resolved', ann)).toMatchObject({
    code: 'wrong_state',
    message: 'a signal that is acknowledged may become investigating, dismissed, and not resolved',
    errors: [{ path: 'status', message: 'allowed: investigating, dismissed' }],
  })
  expect(changeStatus(storedSignalWith('resolved'), 'new', ann)).toMatchObject({
    errors: [{ message: 'allowed: none' }],
  })
})

test('each step is recorded with author, time and reason; an acknowledgement also in its own fields', () => {
  const next = changeStatus(storedSignalWith('new'), 'acknowledged', ann)
  expect(next).toMatchObject({
    metadata: { status_history: [{ from: 'new', to: 'acknowledged', ...ann }] },
    ...{ acknowledged_by: 'ann', acknowledged_at: at, acknowledgment_note: 'seen' },
  })
})

test('archiving dismisses and marks a signal; a signal in a final status is refused', () => {
  expect(archiveSignal(storedSignalWith('investigating'), ann)).toMatchObject({
    status: 'dismissed',
    metadata: { archived: true, archived_by: 'ann', archived_at: at },
  })
  expect(isRefusal(archiveSignal(storedSignalWith('dismissed'), ann))).toBe(true)
})

test('an investigation moves earlier statuses, and its closing edition resolves signals under investigation', () => {
  const closing = { edition_id: 'edn_1', insight_id: 'ins_1' }
  const outcome = (status: SignalStatus) => [
    beginInvestigation(storedSignalWith(status), ann).status,
    resolveByEdition(storedSignalWith(status), closing, ann).status,
  ]
  expect(signalStatus.options.map(outcome)).toEqual([
    ['investigating', 'new'],
    ['investigating', 'acknowledged'],
    ['investigating', 'resolved'],
    ['resolved', 'resolved'],
    ['dismissed', 'dismissed'],
  ])
  expect(resolveByEdition(storedSignalWith('investigating'), closing, ann).metadata).toMatchObject({
    resolved_by_edition: 'edn_1',
    resolved_by_insight: 'ins_1',
  })
})

test('a linked signal queues each step for the ledger, and a repeated link changes nothing', () => {
  const link = { insight_id: 'ins_1', label, told: 0 }
  const linkedSignal = addInsightLink(storedSignalWith('new'), link, ann)
  expect(addInsightLink(linkedSignal, link, ann)).toBe(linkedSignal)
  expect(linkedSignal).toMatchObject({ owes: 0, status: 'new', links: [{ told: 1 }] })
  expect(listStatusSteps(linkedSignal)).toEqual([])
  const next = changeStatus(linkedSignal, 'dismissed', ann)
  expect(isRefusal(next) || [next.owes, listStatusSteps(next).map((step) => step.at)]).toEqual([1, [1]])
  // Reported by a process with an older version of the signal.
  expect(isRefusal(next) || [1, 2].map((steps) => markStepsReported(next, 'ins_1', steps).owes)).toEqual([1, 0])
  // Acknowledged after the link was created, and before the signal was updated.
  const acknowledged = changeStatus(storedSignalWith('new'), 'acknowledged', ann)
  expect(isRefusal(acknowledged) || addInsightLink(acknowledged, link, ann)).toMatchObject({
    owes: 1,
    links: [{ told: 0 }],
  })
})

test('a reason above the label of the reader is omitted; the step is not', () => {
  const policy = { policy: 'SITE', levels: ['OPEN', 'SECRET'] }
  const open = { ...label, level: 'OPEN' }
  const high = changeStatus(storedSignalWith('new', { own_label: open }), 'acknowledged', ann)
  const dismissed = isRefusal(high)
    ? high
    : changeStatus({ ...high, label: open }, 'dismissed', { ...ann, label: open })
  const reasonsFor = (reader: typeof label) =>
    isRefusal(dismissed) ||
    listReadableStatusSteps(dismissed, reader, policy).map(({ change: { to, rationale } }) => [to, rationale])
  expect(reasonsFor(open)).toEqual([
    ['acknowledged', undefined],
    ['dismissed', 'seen'],
  ])
  expect(reasonsFor(label)).toEqual([
    ['acknowledged', 'seen'],
    ['dismissed', 'seen'],
  ])
})

test('expiry marks open due signals once; closed signals are never due', () => {
  expect(expireSignal(storedSignalWith('new'), at, 4)).toEqual(storedSignalWith('new'))
  const marked = expireSignal(storedSignalWith('new'), at, 5)
  expect(marked).toMatchObject({ status: 'new', metadata: { expired_at: at } })
  expect(marked.due_ts).toBeUndefined()
  expect(expireSignal(marked, at, 9)).toBe(marked)
  expect(changeStatus(storedSignalWith('new'), 'dismissed', ann)).not.toHaveProperty('due_ts')
  expect(changeStatus(storedSignalWith('new'), 'acknowledged', ann)).toHaveProperty('due_ts', 5)
})
