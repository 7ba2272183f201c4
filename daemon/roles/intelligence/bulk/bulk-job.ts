// A bulk disposition as a job: each step decides a batch of signals, with the rights that its creator has then.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { attributeAction, changeSignal } from '../signal/change-signal.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { changeStatusByPerson } from '../signal/rules.ts'
import { bulks, type StoredBulk } from './model.ts'
import { type BulkItemOutcome, completeBatch, endBulk, failBulk, isMovedBy, listUndecided } from './rules.ts'

/** Number of signals whose outcomes are stored together. */
const batch_size = 50
const minute_ms = 60_000

export const bulkJob = jobKind<StoredBulk>({
  name: 'bulk',
  collection: bulks,
  allow: 'intelligence:review',
  // Without a principal it ends, and changes no signal.
  checkSiteWork: () => undefined,
  limits: () => ({ at_once: 4, at_once_per_tenant: 1 }),
  stepLimit_ms: () => 5 * minute_ms,
  waits: { first_ms: 1_000, longest_ms: minute_ms },
  step: (call, doc) => (doc.value.job.principal ? decideBatch(call, doc) : endEarly(call, doc)),
  fail: (bulk, { failure, at, now_ms }) => failBulk(bulk, failure, at, now_ms),
})

async function decideBatch(call: JobCall, { id, value }: Doc<StoredBulk>): Promise<undefined> {
  const batch = listUndecided(value, batch_size)
  // All of them end before the step does, so that no change arrives after the bulk disposition was ended early.
  const decisions = await Promise.allSettled(batch.map((signal_id) => decideSignal(call, id, value, signal_id)))
  const outcomes = new Map<string, BulkItemOutcome>()
  for (const [at, decision] of decisions.entries()) {
    if (decision.status === 'rejected') throw decision.reason
    outcomes.set(batch[at] ?? '', decision.value)
  }
  await call.store(bulks).update(id, ({ value: current }) => ({
    next: completeBatch(current, outcomes, call.nowIso(), call.now()),
    answer: undefined,
  }))
}

/** Throws what a retry may cure. */
async function decideSignal(
  call: JobCall,
  bulk: string,
  { disposition, rationale }: StoredBulk,
  signal_id: string,
): Promise<BulkItemOutcome> {
  const rule = (current: StoredSignal) =>
    isMovedBy(current, bulk)
      ? current
      : changeStatusByPerson(current, disposition, { ...attributeAction(call, rationale), bulk })
  const change = await changeSignal(call, signal_id, rule, 'intelligence.bulk.dispose', { bulk }).catch(returnRefusal)
  if (!isRefusal(change)) return { outcome: 'done' }
  if (change.row.retryable) throw change
  if (change.code !== 'not_found' && change.code !== 'not_your_tenant')
    return { outcome: 'refused', reason: change.message }
  // The label of a signal that an earlier start of this step changed may have been raised since.
  if (await hasMoved(call.service, bulk, signal_id)) return { outcome: 'done' }
  return { outcome: 'refused', reason: 'there is no such signal' }
}

function returnRefusal(error: unknown): Refusal {
  if (isRefusal(error)) return error
  throw error
}

/** Ends one that was left to the site: only signals of the batch that was under way may have changed. */
async function endEarly(call: Call, { id, value }: Doc<StoredBulk>): Promise<undefined> {
  const moved = new Set<string>()
  for (const signal_id of listUndecided(value, batch_size))
    if (await hasMoved(call, id, signal_id)) moved.add(signal_id)
  await call
    .store(bulks)
    .update(id, ({ value: current }) => ({ next: endBulk(current, moved, call.nowIso()), answer: undefined }))
}

async function hasMoved(call: Call, bulk: string, signal_id: string): Promise<boolean> {
  const doc = await call.store(signals).find(signal_id)
  return doc !== undefined && isMovedBy(doc.value, bulk)
}
