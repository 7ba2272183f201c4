// Makes the changes of a plan in the cluster, and records what became of each: in the store, the audit log and the metrics.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { IngressWrite } from '../../../shared/routing/cluster-ingresses.ts'
import type { ManagedIngress } from '../../../shared/routing/render/kubernetes/managed-ingresses.ts'
import { ingressWriteTotal } from '../metrics.ts'
import { holdWritingLease } from './hold-writing-lease.ts'
import { managedIngresses, type StoredManagedIngress } from './model.ts'
import type { IngressKeeping } from './parts.ts'
import { type IngressChange, type IngressState, isRepair, isSameRecord, nameOf, recordIngress } from './rules.ts'

const writes_at_once = 8

/** Ends early where another process has the lease, or the cluster does not answer: the next plan has what is left. */
export async function writeChanges(
  call: Call,
  keeping: IngressKeeping,
  changes: readonly IngressChange[],
): Promise<void> {
  const { retries } = keeping.progress
  const due = changes.filter((each) => (retries.get(nameOf(each)) ?? 0) <= call.monotonic())
  for (let at = 0; at < due.length; at += writes_at_once) {
    if (call.signal.aborted || !(await holdWritingLease(call, keeping))) return
    const batch = due.slice(at, at + writes_at_once)
    const answers = await Promise.all(batch.map(async (each) => ({ each, write: await send(call, keeping, each) })))
    for (const { each, write } of answers) await settle(call, keeping, each, write)
    if (answers.some(({ write }) => write.outcome === 'unavailable')) return
  }
}

function send(call: Call, { cluster }: IngressKeeping, change: IngressChange): Promise<IngressWrite> {
  if (change.change === 'create') return cluster.create(change.target.object, call.signal)
  if (change.change === 'patch') return cluster.patch(change.target.object, change.seen, call.signal)
  return cluster.remove(change.seen, call.signal)
}

const outcomes = { create: 'created', patch: 'patched', remove: 'deleted' } as const

async function settle(call: Call, keeping: IngressKeeping, change: IngressChange, write: IngressWrite): Promise<void> {
  const { records, retries } = keeping.progress
  const name = nameOf(change)
  const before = records?.get(name)
  const { trace_id } = call.trace
  if (write.outcome === 'gone' || write.outcome === 'changed') return
  if ('reason' in write) return await settleFailure(call, keeping, change, write)
  retries.delete(name)
  if (change.change === 'remove') {
    call.count(ingressWriteTotal, { outcome: 'deleted' })
    call.log.info('gateway.ingress.deleted', { trace_id, name })
    // One that is still wanted, and no longer reachable by an ingress, keeps its record.
    const isWanted = keeping.progress.desired?.ingresses.some((each) => each.name === name)
    await (isWanted
      ? call.record([call.audited('gateway.ingress.deleted', name, {})])
      : dropRecord(call, keeping, name))
    return
  }
  const outcome = isRepair(before, change.target) ? 'repaired' : outcomes[change.change]
  call.count(ingressWriteTotal, { outcome })
  const { service, priority, paths } = change.ingress
  const { backend } = change.target
  call.log.info(`gateway.ingress.${outcome}`, { trace_id, name, service, backend, priority, paths })
  await keepRecord(call, keeping, change.ingress, { state: 'written' }, outcome)
}

type FailedWrite = Extract<IngressWrite, { readonly reason: string }>
const failures = {
  foreign: { outcome: 'conflict', state: 'conflict', retry_ms: 10_000 },
  refused: { outcome: 'failed', state: 'failed', retry_ms: 10_000 },
  unavailable: { outcome: 'failed', state: 'pending', retry_ms: 3_000 },
} as const

async function settleFailure(
  call: Call,
  keeping: IngressKeeping,
  change: IngressChange,
  { outcome: kind, reason }: FailedWrite,
): Promise<void> {
  // It was broken off by the end of the process.
  if (call.signal.aborted) return
  const { records, retries } = keeping.progress
  const { outcome, state, retry_ms } = failures[kind]
  const name = nameOf(change)
  call.count(ingressWriteTotal, { outcome })
  retries.set(name, call.monotonic() + retry_ms)
  if (records?.get(name)?.reason !== reason)
    call.log.warn(`gateway.ingress.${outcome}`, { trace_id: call.trace.trace_id, name, reason })
  if (change.change !== 'remove') await keepRecord(call, keeping, change.ingress, { state, reason })
}

/** `audited`: the change that was made, if one was. */
export async function keepRecord(
  call: Call,
  { progress }: IngressKeeping,
  ingress: ManagedIngress,
  state: IngressState,
  audited?: string,
): Promise<void> {
  const { name } = ingress
  const before = progress.records?.get(name)
  const next = recordIngress(ingress, state, before, { tenant_id: call.site.tenant_id, now: call.now() })
  if (isSameRecord(before, next) && audited === undefined) return
  const { service, backend, priority, paths } = next
  const audit =
    audited === undefined
      ? []
      : [call.audited(`gateway.ingress.${audited}`, name, { service, backend, priority, paths })]
  await putRecord(call, next, audit)
  progress.records?.set(name, next)
}

async function putRecord(call: Call, next: StoredManagedIngress, audit: Parameters<Call['record']>[0]): Promise<void> {
  const store = call.store(managedIngresses)
  for (;;) {
    if ((await store.create(next.name, next, audit)) !== 'exists') return
    try {
      await store.update(next.name, () => ({ next, answer: undefined, audit }))
      return
    } catch (error) {
      if (!(isRefusal(error) && error.code === 'not_found')) throw error
    }
  }
}

/** `isMade`: an ingress was deleted, which is audited. */
export async function dropRecord(call: Call, { progress }: IngressKeeping, name: string, isMade = true): Promise<void> {
  const { service } = progress.records?.get(name) ?? {}
  const audit = isMade ? [call.audited('gateway.ingress.deleted', name, { service })] : []
  try {
    await call.store(managedIngresses).remove(name, audit)
  } catch (error) {
    if (!(isRefusal(error) && error.code === 'not_found')) throw error
    await call.record(audit)
  }
  progress.records?.delete(name)
}
