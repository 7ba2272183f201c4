// Decides whether a result may change the registry: not if its estimated quality is poor, nor if it would only split entities.
import { isCoveredBy } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn, recordUid } from '../entity-record/model.ts'
import type { StoredRun } from '../fusion-run/model.ts'
import { runWork } from '../parts.ts'

/**
 * Returns why the run must wait for a person; undefined if its result may be published. The terms of an exchange are those of two
 * sites, which need the same result: it is never held.
 */
export async function findHoldReason(call: Call, run: Doc<StoredRun>, signal: AbortSignal): Promise<StoredRun['held']> {
  const { quality, counts, accept_poor, exchange_id } = run.value
  if (!quality || accept_poor || exchange_id !== undefined) return undefined
  if (counts.clusters !== 0) return quality.verdict === 'poor' ? 'poor' : undefined
  return (await splitsEntities(call, run, signal)) ? 'no_links' : undefined
}

/**
 * Whether a record of a run without links is in a cluster of an earlier run, which it would leave. Entities count that everybody
 * may see who sees the run: that it is held would disclose others to its caller, who may name any record.
 */
async function splitsEntities(
  call: Call,
  { id, value: { tenant_id, lens, label } }: Doc<StoredRun>,
  signal: AbortSignal,
): Promise<boolean> {
  const isShown = async (entity: string) => {
    const doc = await call.store(entityClusters).find(entity)
    return doc?.value.state === 'live' && doc.value.size > 1 && isCoveredBy(doc.value.label, label, call.site.labels)
  }
  const large = { tenant_id, lens, state: 'live', size: { gte: 2 } }
  const { docs } = await call.store(entityClusters).list({ filter: large, limit: 1, fresh: true })
  if (docs.length === 0) return false
  for await (const batch of call.part(runWork).clusters(id)) {
    signal.throwIfAborted()
    const uids = batch.flatMap((cluster) => cluster.map(({ ref }) => recordUid(tenant_id, lens, ref)))
    const found = await Promise.all(uids.map((uid) => call.store(entityRecords).find(uid)))
    const linked = found.filter((doc) => doc && !isWithdrawn(doc.value) && isLinkedTo(doc.id, doc.value))
    const entities = new Set(linked.flatMap((doc) => doc?.value.entity ?? []))
    if ((await Promise.all([...entities].map(isShown))).includes(true)) return true
  }
  return false
}

/** The cluster of an earlier run has the uid of its first record; an arrived record may be in one without a run. */
function isLinkedTo(
  uid: string,
  { base, found = base, arrived }: { base: string; found?: string | undefined; arrived?: unknown },
): boolean {
  return arrived === undefined && found !== uid
}
