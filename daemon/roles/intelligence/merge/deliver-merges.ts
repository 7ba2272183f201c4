// Delivers pending merges: from a survivor to its merged signals, and from signals to their linked insights.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { followMerge } from '../insight/follow-merge.ts'
import { insights } from '../insight/model.ts'
import { changeSignal } from '../signal/change-signal.ts'
import { type MergedSignalItem, type StoredSignal, signals } from '../signal/model.ts'
import { abandonMerge, claimSignal, completeMerge, completeUnmerge, recordKnownMerge, releaseSignal } from './rules.ts'

/** A signal that could not be merged, with the reason; the survivor has removed it. */
export type MergeFailure = { readonly signal_id: string; readonly reason: string }

/** Delivers the pending merges of a survivor; every delivery may be repeated. Throws if the store fails now. */
export async function deliverMerges(call: Call, survivor: Doc<StoredSignal>): Promise<MergeFailure[]> {
  const left_out: MergeFailure[] = []
  for (const item of survivor.value.taken_in ?? []) {
    const { signal_id, state } = item
    if (state === 'taken') continue
    const refusal =
      state === 'taking' ? await deliverMerge(call, survivor, item) : await deliverUnmerge(call, survivor, item)
    if (refusal) left_out.push({ signal_id, reason: refusal.message })
  }
  return left_out
}

async function deliverMerge(
  call: Call,
  survivor: Doc<StoredSignal>,
  item: MergedSignalItem,
): Promise<Refusal | undefined> {
  const { signal_id, by } = item
  const auditDetail = { survivor: survivor.id, by }
  const rule = (current: StoredSignal) => claimSignal(current, survivor, item, call.site.labels)
  const change = await changeSignal(call, signal_id, rule, 'intelligence.signal.merged', auditDetail)
  const { labels } = call.site
  const next = (current: StoredSignal) =>
    isRefusal(change)
      ? abandonMerge(current, signal_id, call.nowIso(), labels)
      : completeMerge(current, signal_id, call.nowIso())
  const detail = { signal: signal_id, by, ...(isRefusal(change) ? { left_out: change.message } : {}) }
  const now = await changeSignal(call, survivor.id, next, 'intelligence.signal.merge-settled', detail)
  // Delivered late, after the merge was undone: release the signal.
  const isKnown = !isRefusal(now) && now.value.taken_in?.some(({ key }) => key === item.key)
  if (!isRefusal(change) && !isKnown) await releaseFromSurvivor(call, item, survivor.id)
  return isRefusal(change) ? change : undefined
}

async function deliverUnmerge(call: Call, { id }: Doc<StoredSignal>, item: MergedSignalItem): Promise<undefined> {
  const { signal_id, by } = item
  await releaseFromSurvivor(call, item, id)
  const completed = (current: StoredSignal) => completeUnmerge(current, signal_id, call.nowIso(), call.site.labels)
  await changeSignal(call, id, completed, 'intelligence.signal.merge-settled', { signal: signal_id, by })
}

async function releaseFromSurvivor(call: Call, item: MergedSignalItem, survivor: string): Promise<void> {
  const apart = (current: StoredSignal) => releaseSignal(current, item)
  await changeSignal(call, item.signal_id, apart, 'intelligence.signal.unmerged', { survivor, by: item.by })
}

/** Updates each linked insight with the survivor of this signal, or the undoing of its merge. Acts for every tenant. */
export async function notifyInsights(call: Call, { id, value }: Doc<StoredSignal>): Promise<void> {
  const { into, key } = value.merge ?? {}
  const survivor = into === undefined ? undefined : await call.store(signals).get(into)
  const action = value.metadata.status_history.findLast(({ event }) => event === 'merged' || event === 'unmerged')
  for (const { insight_id, label, stands } of value.links) {
    if (stands === key || !action) continue
    const { by, at } = action
    const { doc } = await call.store(insights).update(insight_id, (current) => {
      const by_whom = survivor && {
        ...linkableSurvivor(survivor),
        holds: isCoveredBy(survivor.value.label, label, call.site.labels),
      }
      const next = followMerge(current.value, id, by_whom, { by, at })
      return next === current.value ? { answer: undefined } : { next, answer: undefined }
    })
    if (doc.value.owes) call.wake('relay')
    await call
      .store(signals)
      .update(id, ({ value: current }) => ({ next: recordKnownMerge(current, insight_id, key), answer: undefined }))
  }
}

function linkableSurvivor({ id, value }: Doc<StoredSignal>) {
  return { signal_id: id, status: value.status, steps: value.metadata.status_history.length }
}
