// Keeps the ingresses of registered services in the cluster: those that the registry wants, and nothing else of the gateway's.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { runInSlices } from '../../../kernel/role/run-in-slices.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import {
  type ManagedIngress,
  renderManagedIngresses,
} from '../../../shared/routing/render/kubernetes/managed-ingresses.ts'
import { buildRoutingTable } from '../../../shared/routing/routing-table.ts'
import { listRegisteredOwners } from '../../../shared/service-registry/registered-service.ts'
import { holdWritingLease } from '../managed-ingress/hold-writing-lease.ts'
import { managedIngresses, type StoredManagedIngress } from '../managed-ingress/model.ts'
import { type IngressKeeping, ingressKeepingPart } from '../managed-ingress/parts.ts'
import { planChanges } from '../managed-ingress/rules.ts'
import { dropRecord, keepRecord, writeChanges } from '../managed-ingress/write-changes.ts'
import { siteRoutingPart } from '../parts.ts'
import { loadServices } from '../registered-service/load-services.ts'

export const keepIngresses: Worker = { name: 'keep-ingresses', when: { every_ms: 1_000 }, run }

async function run(call: Call): Promise<void> {
  const keeping = call.part(ingressKeepingPart)
  if (!keeping || !(await holdWritingLease(call, keeping))) return
  const { cluster, progress } = keeping
  progress.records ??= await loadRecords(call)
  const desired = await findDesired(call, keeping)
  const { ingresses, fault, revision } = cluster.view()
  reportFault(call, keeping, fault)
  if (progress.settled?.revision === revision && progress.settled.key === desired.key) return
  await recordOthers(call, keeping, desired.ingresses)
  // The view may be old, and ingresses that it lacks may exist.
  if (ingresses === undefined || fault !== undefined) return
  const changes = planChanges(desired.ingresses, ingresses)
  if (changes.length === 0) progress.settled = { revision, key: desired.key }
  else await writeChanges(call, keeping, changes)
}

/** Computed again only where the registry differs. */
async function findDesired(call: Call, { options, progress }: IngressKeeping) {
  const { owners, backends: registered } = listRegisteredOwners(await loadServices(call), call.now())
  const key = JSON.stringify([owners, [...registered]])
  if (progress.desired?.key === key) return progress.desired
  const routing = call.part(siteRoutingPart)
  const urls = new Map([...registered, ...routing.backends])
  const rules = buildRoutingTable({ ...routing.options, registered: owners, served: new Set(urls.keys()) })
  const ingresses = await runInSlices(call, renderManagedIngresses(rules, owners, urls, options))
  progress.desired = { key, ingresses }
  return progress.desired
}

async function loadRecords(call: Call): Promise<Map<string, StoredManagedIngress>> {
  const records = new Map<string, StoredManagedIngress>()
  for await (const { id, value } of iterateDocuments(call.store(managedIngresses), {})) records.set(id, value)
  return records
}

/** Of ingresses that need no write: those that cannot be, are new, are as they should be, or are wanted no longer. */
async function recordOthers(call: Call, keeping: IngressKeeping, desired: readonly ManagedIngress[]): Promise<void> {
  const { records } = keeping.progress
  const observed = keeping.cluster.view().ingresses
  for (const ingress of desired) {
    const { name, service, target } = ingress
    const before = records?.get(name)
    if ('reason' in target) {
      const { reason } = target
      if (before?.reason !== reason)
        call.log.warn('gateway.ingress.unroutable', { trace_id: call.trace.trace_id, name, service, reason })
      await keepRecord(call, keeping, ingress, { state: 'unroutable', reason })
    } else if (observed?.get(name)?.sha256 === target.sha256)
      await keepRecord(call, keeping, ingress, { state: 'written' })
    else if (!before) await keepRecord(call, keeping, ingress, { state: 'pending' })
  }
  const wanted = new Set(desired.map(({ name }) => name))
  // One that is in the cluster loses its record with its ingress.
  for (const name of records?.keys() ?? [])
    if (!wanted.has(name) && observed && !observed.has(name)) await dropRecord(call, keeping, name, false)
}

function reportFault(call: Call, { progress }: IngressKeeping, fault: string | undefined): void {
  if (fault === progress.fault) return
  progress.fault = fault
  const { trace_id } = call.trace
  if (fault === undefined) call.log.info('gateway.cluster.reached', { trace_id })
  else call.log.warn('gateway.cluster.unreachable', { trace_id, reason: fault })
}
