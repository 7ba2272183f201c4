// Moves changes from signals to the log of their tenant: numbers a batch in one write, copies it, then marks it as
// settled.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { type ChangeReference, type SignalLog, signalChanges, signalLogs } from './model.ts'
import { assignPlaces, batchStart, changeId, removeLoggedChanges } from './rules.ts'

/** Size of a batch; the head of the log holds the batch while it is copied. */
const max_batch_changes = 500

/**
 * Appends all changes of these signals of one tenant. Safe for concurrent callers: a batch is numbered only after the
 * previous one was copied, by any caller, and a change in the log is never copied again.
 */
export async function appendChanges(call: Call, tenant_id: string, docs: readonly Doc<StoredSignal>[]): Promise<void> {
  let remaining = docs.flatMap(({ id, value }) => value.untold.map((change) => ({ signal_id: id, change })))
  while (remaining.length > 0 && !call.signal.aborted) {
    const head = await loadLogHead(call, tenant_id)
    if (head.pending.length > 0) await copyBatch(call, head)
    const batchChanges = remaining.slice(0, max_batch_changes)
    const numbered = await numberBatch(call, tenant_id, batchChanges)
    if (!numbered) continue
    remaining = remaining.slice(batchChanges.length)
    await copyBatch(call, numbered)
  }
}

async function loadLogHead(call: Call, tenant_id: string): Promise<SignalLog> {
  const existing = await call.store(signalLogs).find(tenant_id)
  if (existing) return existing.value
  const emptyLog: SignalLog = { tenant_id, batch: 0, settled: 0, pending: [], owes: 0 }
  await call.store(signalLogs).create(tenant_id, emptyLog)
  return (await call.store(signalLogs).get(tenant_id)).value
}

type ChangeOfSignal = { readonly signal_id: string; readonly change: StoredSignal['untold'][number] }

/** Numbers a batch; undefined while another batch is being copied. */
async function numberBatch(
  call: Call,
  tenant_id: string,
  batchChanges: readonly ChangeOfSignal[],
): Promise<SignalLog | undefined> {
  const bySignal = Map.groupBy(batchChanges, ({ signal_id }) => signal_id)
  const { doc, answer } = await call.store(signalLogs).update(tenant_id, ({ value }) => {
    if (value.pending.length > 0) return { answer: false }
    const batch = Math.max(call.now(), value.batch + 1)
    const pending = [...bySignal].flatMap(([id, each]) =>
      assignPlaces(
        batch,
        id,
        each.map(({ change }) => change),
      ),
    )
    return { next: { ...value, batch, pending, owes: 1 }, answer: true }
  })
  return answer ? doc.value : undefined
}

/** Copies batches that were interrupted by a stop. */
export async function finishBatches(call: Call): Promise<void> {
  const { docs } = await call.store(signalLogs).list({ filter: { owes: 1 }, limit: 500, fresh: true })
  for (const { value } of docs) await copyBatch(call, value)
}

/**
 * Copies a batch. A change leaves its signal only once it is in the log, so a change missing in the signal is in the
 * log.
 */
async function copyBatch(call: Call, { tenant_id, batch, pending }: SignalLog): Promise<void> {
  const bySignal = Map.groupBy(pending, ({ signal_id }) => signal_id)
  await Promise.all([...bySignal].map(([signal_id, references]) => copySignalChanges(call, signal_id, references)))
  await call.store(signalLogs).update(tenant_id, ({ value }) => {
    if (value.batch !== batch || value.pending.length === 0) return { answer: undefined }
    return { next: { ...value, settled: batch, pending: [], owes: 0 }, answer: undefined }
  })
}

async function copySignalChanges(call: Call, signal_id: string, references: readonly ChangeReference[]): Promise<void> {
  const doc = await call.store(signals).find(signal_id)
  // Signals are never deleted, but one that a faulty store lost must not block the log.
  if (!doc) return
  const { value } = doc
  const writes = references.flatMap((reference) => {
    const unlogged = value.untold.find((each) => changeId({ signal_id, ...each }) === changeId(reference))
    if (!unlogged) return []
    const { label, part: _part, ...rest } = unlogged
    const id = changeId(reference)
    const { place } = reference
    const stored = { tenant_id: value.tenant_id, label, signal_id, place, change: { id, signal_id, ...rest } }
    return [{ do: 'create' as const, id, value: stored }]
  })
  if (writes.length === 0) return
  const outcomes = await call.store(signalChanges).bulk(writes)
  if (outcomes.some((outcome) => outcome !== 'done' && outcome !== 'exists'))
    throw new Error(`the changes of ${signal_id} could not be copied`)
  await call
    .store(signals)
    .update(signal_id, ({ value: current }) => ({ next: removeLoggedChanges(current, references), answer: undefined }))
}

/** End of the positions whose changes are all in the log. */
export function copiedEnd({ settled }: SignalLog): string {
  return batchStart(settled + 1)
}
