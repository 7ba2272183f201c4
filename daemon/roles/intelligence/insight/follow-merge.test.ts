// Insights follow merges of linked signals: which signal blocks closing, and links that cannot be followed.
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
  const closed = closeInsight(insight, states, ann)
  return isRefusal(closed) ? closed.errors?.map(({ message }) => message) : closed.state
}

test('without a link to the survivor, closing waits for the merged signal itself', () => {
  const followed = followMerge(insightOnC, 'sig_c', survivorOf('sig_s', false), ann)
  expect(followed).toBe(insightOnC)
  expect(blockingSignals(followed, signalStates('sig_s'))).toEqual(['sig_c is new'])
  // Merged again into a signal above the insight: the earlier survivor no longer represents it.
  expect(followMerge(mergedInsight, 'sig_c', survivorOf('sig_t', false), ann).links).toEqual([
    { signal_id: 'sig_c', told: 0 },
  ])
})

test('an unmerged signal blocks closing even before the insight is updated', () => {
  expect(blockingSignals(mergedInsight, signalStates('sig_s'))).toBe('closed')
  expect(blockingSignals(mergedInsight, signalStates())).toEqual(['sig_c is new'])
  expect(blockingSignals(mergedInsight, signalStates('sig_t'))).toEqual(['sig_c is new'])
})

test('a link that cannot be followed is dropped with its pending entries, and its merged signals count for themselves', () => {
  const advance = { type: 'advance' as const, id: 'advance:sig_s', signal_id: 'sig_s', by: 'ann' }
  const dropped = dropUncoveredLink({ ...mergedInsight, pending: [...mergedInsight.pending, advance] }, 'sig_s', ann)
  expect(dropped.links).toEqual([{ signal_id: 'sig_c', told: 0 }])
  expect(dropped.pending.map(({ type }) => type)).not.toContain('advance')
  expect(dropped.pending.at(-1)).toMatchObject({ event: { type: 'signal_unlinked', signal_id: 'sig_s', seq: 5 } })
  expect(dropUncoveredLink(dropped, 'sig_s', ann)).toBe(dropped)
  const closedInsight = { ...mergedInsight, state: 'closed' as const }
  expect(dropUncoveredLink(closedInsight, 'sig_s', ann)).toBe(closedInsight)
})

test('a signal merged again before the insight was updated queues the link to its survivor once more', () => {
  const delivered = removeFromOutbox(mergedInsight, new Set(mergedInsight.pending.map(({ id }) => id)))
  expect(delivered.owes).toBe(0)
  const again = followMerge(delivered, 'sig_c', survivorOf('sig_s'), ann)
  expect(again.pending).toMatchObject([{ type: 'follow', signal_id: 'sig_s', via: 'sig_c' }])
  expect(again.events).toBe(delivered.events)
})
