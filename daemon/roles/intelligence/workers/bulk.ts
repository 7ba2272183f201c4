// Carries out bulk dispositions, in batches. The outcome of a batch is in the histories of its signals, so that an
// interrupted batch is neither repeated nor lost.

import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { dominates } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { FairTurns } from '../../../kernel/role/fair-turns.ts'
import { part } from '../../../kernel/role/part.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { findFirstDue, ownerOf } from '../../../kernel/store/find-first-due.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { bulks, type StoredBulk } from '../bulk/model.ts'
import { applyOutcomes, type BulkItemOutcome, isMovedBy, listUndecided } from '../bulk/rules.ts'
import { changeSignal } from '../signal/change-signal.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { changeStatusByPerson } from '../signal/rules.ts'

export const bulk: Worker = {
  name: 'bulk',
  when: { every_ms: 5_000 },
  run,
}

/** Whose batch is next; remembered between the runs of the worker. */
export const bulkTurnsPart = part<FairTurns>('bulk-turns')

/** Number of signals whose outcomes are stored together; a cancellation takes effect between batches. */
const batch_size = 50

/** Applies batch after batch, in fair turns: the bulks of one tenant or person do not delay another's first. */
async function run(call: Call): Promise<void> {
  const failed = new Set<string>()
  for (;;) {
    const due = await findFirstDue(call.store(bulks), { owes: 1 }, { isFree: ({ id }) => !failed.has(id) })
    const doc = call.part(bulkTurnsPart).take(due, ownerOf)
    if (!doc || call.signal.aborted) return
    await applyBatch(call, doc).catch((error: unknown) => {
      failed.add(doc.id)
      const { trace_id } = call.trace
      call.log.error('intelligence.bulk.delayed', { trace_id, id: doc.id, error: String(error) })
    })
  }
}

async function applyBatch(call: Call, doc: Doc<StoredBulk>): Promise<void> {
  const { id, value: bulkValue } = doc
  const isEnding = bulkValue.state === 'cancelling'
  const all = listUndecided(bulkValue, isEnding ? bulkValue.items.length : batch_size)
  const answers = await Promise.all(
    // After a cancellation, only signals of the batch under way may have changed.
    all.map((signal_id, at) =>
      isEnding
        ? at < batch_size
          ? outcomeAfterCancel(call, id, signal_id)
          : cancelledOutcome
        : disposeSignal(call, doc, signal_id),
    ),
  )
  const outcomes = new Map(all.map((signal_id, at) => [signal_id, answers[at] ?? cancelledOutcome]))
  await call
    .store(bulks)
    .update(id, ({ value }) => ({ next: applyOutcomes(value, outcomes, call.nowIso()), answer: undefined }))
}

const cancelledOutcome: BulkItemOutcome = { outcome: 'cancelled' }

async function outcomeAfterCancel(call: Call, bulk_id: string, signal_id: string): Promise<BulkItemOutcome> {
  const doc = await call.store(signals).find(signal_id)
  return doc && isMovedBy(doc.value, bulk_id) ? { outcome: 'done' } : cancelledOutcome
}

/** Acts in the name and with the clearance of the creator. Throws if the store fails now. */
async function disposeSignal(call: Call, { id, value }: Doc<StoredBulk>, signal_id: string): Promise<BulkItemOutcome> {
  const { created_by: by, disposition, rationale, tenant_id, clearance } = value
  const rule = (current: StoredSignal) => {
    if (isMovedBy(current, id)) return current
    const maySee = dominates({ clearance, tenant_id }, current.label, call.site.labels)
    if (current.tenant_id !== tenant_id || !maySee) return refuse('not_found', 'there is no such signal')
    return changeStatusByPerson(current, disposition, { by, at: call.nowIso(), rationale, bulk: id })
  }
  try {
    const change = await changeSignal(call, signal_id, rule, 'intelligence.bulk.dispose', { bulk: id, by })
    return isRefusal(change) ? { outcome: 'refused', reason: change.message } : { outcome: 'done' }
  } catch (error) {
    if (isRefusal(error) && error.code === 'not_found') return { outcome: 'refused', reason: error.message }
    throw error
  }
}
