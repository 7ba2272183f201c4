// Holds insights to who stands for a linked signal: whom closing waits for, and what becomes of a link that cannot be followed.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { closeInsight } from './closing/rules.ts'
import { followMerge, type MergeSurvivor } from './follow-merge.ts'
import type { StoredInsight } from './model.ts'
import { removeFromOutbox } from './outbox/rules.ts'
import { dropUncoveredLink, type LinkedSignalStates, openInsight } from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const ann = { by: 'ann', at }
const label = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const newInsight: StoredInsight = {
  ...{ tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at, request_digest: '' },
  ...{ title: 't', state: 'open', entry_context: { type: 'signal', trigger: 'sig_c' } },
  ...{ links: [], editions: [], events: 0, pending: [], owes: 0 },
}
const insightOnC = openInsight(newInsight, { signal_id: 'sig_c', status: 'new', steps: 0 }, ann)
const survivorOf = (signal_id: string, holds = true): MergeSurvivor => ({ signal_id, status: 'new', steps: 0, holds })
const mergedInsight = followMerge(insightOnC, 'sig_c', survivorOf('sig_s'), ann)

const signalStates = (into?: string): LinkedSignalStates =>
  new Map([
    ['sig_c', { status: 'new', steps: [], ...(into === undefined ? {} : { merged_into: into }) }],
    ['sig_s', { status: 'dismissed', steps: [] }],
  ])
const blockingSignals = (insight: StoredInsight, states: LinkedSignalStates) => {
  const done = closeInsight(insight, states, ann)
  return isRefusal(done) ? done.errors?.map(({ message }) => message) : done.state
}

test('where the insight does not hold who stands for a signal, closing waits for the signal itself', () => {
  const told = followMerge(insightOnC, 'sig_c', survivorOf('sig_s', false), ann)
  expect(told).toBe(insightOnC)
  expect(blockingSignals(told, signalStates('sig_s'))).toEqual(['sig_c is new'])
  // Merged again, into one above it: who stood for it before does so no more.
  expect(followMerge(mergedInsight, 'sig_c', survivorOf('sig_t', false), ann).links).toEqual([
    { signal_id: 'sig_c', told: 0 },
  ])
})

test('a signal that was taken out is waited for before the insight is told so', () => {
  expect(blockingSignals(mergedInsight, signalStates('sig_s'))).toBe('closed')
  expect(blockingSignals(mergedInsight, signalStates())).toEqual(['sig_c is new'])
  expect(blockingSignals(mergedInsight, signalStates('sig_t'))).toEqual(['sig_c is new'])
})

test('a link that cannot be followed is dropped with what it owes, and whom it stood for stands for itself', () => {
  const advance = { type: 'advance' as const, id: 'advance:sig_s', signal_id: 'sig_s', by: 'ann' }
  const left = dropUncoveredLink({ ...mergedInsight, pending: [...mergedInsight.pending, advance] }, 'sig_s', ann)
  expect(left.links).toEqual([{ signal_id: 'sig_c', told: 0 }])
  expect(left.pending.map(({ type }) => type)).not.toContain('advance')
  expect(left.pending.at(-1)).toMatchObject({ event: { type: 'signal_unlinked', signal_id: 'sig_s', seq: 5 } })
  expect(dropUncoveredLink(left, 'sig_s', ann)).toBe(left)
  const over = { ...mergedInsight, state: 'closed' as const }
  expect(dropUncoveredLink(over, 'sig_s', ann)).toBe(over)
})

test('one that is merged again before the insight was told owes its survivor the link once more', () => {
  const settled = removeFromOutbox(mergedInsight, new Set(mergedInsight.pending.map(({ id }) => id)))
  expect(settled.owes).toBe(0)
  const again = followMerge(settled, 'sig_c', survivorOf('sig_s'), ann)
  expect(again.pending).toMatchObject([{ type: 'follow', signal_id: 'sig_s', via: 'sig_c' }])
  expect(again.events).toBe(settled.events)
})
