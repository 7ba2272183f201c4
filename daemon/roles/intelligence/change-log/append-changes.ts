// Takes changes from the signals that hold them into their tenant's log: numbered in one write, copied, then settled.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { type ChangeReference, type SignalLog, signalChanges, signalLogs } from './model.ts'
import { assignPlaces, batchStart, changeId, removeLoggedChanges } from './rules.ts'

/** Of one batch, which is in the head of the log while it is copied. */
const max_batch_changes = 500

/**
 * All changes of these signals, which are of one tenant. Others may do the same at the same time: a batch gets its places
 * only when the one before is copied whole, by whoever comes first, and a change that is in the log is never copied again.
 */
export async function appendChanges(call: Call, tenant_id: string, docs: readonly Doc<StoredSignal>[]): Promise<void> {
  let left = docs.flatMap(({ id, value }) => value.untold.map((change) => ({ signal_id: id, change })))
  while (left.length > 0 && !call.signal.aborted) {
    const head = await loadLogHead(call, tenant_id)
    if (head.pending.length > 0) await copyBatch(call, head)
    const some = left.slice(0, max_batch_changes)
    const numbered = await numberBatch(call, tenant_id, some)
    if (!numbered) continue
    left = left.slice(some.length)
    await copyBatch(call, numbered)
  }
}

async function loadLogHead(call: Call, tenant_id: string): Promise<SignalLog> {
  const known = await call.store(signalLogs).find(tenant_id)
  if (known) return known.value
  const fresh: SignalLog = { tenant_id, batch: 0, settled: 0, pending: [], owes: 0 }
  await call.store(signalLogs).create(tenant_id, fresh)
  return (await call.store(signalLogs).get(tenant_id)).value
}

type ChangeOfSignal = { readonly signal_id: string; readonly change: StoredSignal['untold'][number] }

/** Undefined when somebody else's batch is being copied. */
async function numberBatch(
  call: Call,
  tenant_id: string,
  some: readonly ChangeOfSignal[],
): Promise<SignalLog | undefined> {
  const bySignal = Map.groupBy(some, ({ signal_id }) => signal_id)
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

/** Ends what a stop cut short. */
export async function finishBatches(call: Call): Promise<void> {
  const { docs } = await call.store(signalLogs).list({ filter: { owes: 1 }, limit: 500, fresh: true })
  for (const { value } of docs) await copyBatch(call, value)
}

/** A change that its signal no longer holds is in the log: it is taken out of the signal only then. */
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
  // None is ever deleted; but one that a broken store lost must not hold up the log for ever.
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

/** All of this is in the log. */
export function copiedEnd({ settled }: SignalLog): string {
  return batchStart(settled + 1)
}
