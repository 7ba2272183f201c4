// Opens the registry for a lookup of the caller.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { isLookupOnly } from '../matching.ts'
import { registryIndexCachePart, snapshotIndexCachePart } from '../parts.ts'
import { findPresentRecord } from '../withdrawal/entity-removal.ts'
import type { LookupRegistry } from './lookup-registry.ts'
import { findTrainedLens, type LensSelector, type TrainedLens } from './trained-lens.ts'

export async function openLookupRegistry(call: Call, selector: LensSelector): Promise<LookupRegistry | Refusal> {
  if (isLookupOnly(call)) return await call.part(snapshotIndexCachePart).openRegistry(call, selector)
  const trained = await findTrainedLens(call, selector)
  return isRefusal(trained) ? trained : await openOwnRegistry(call, trained)
}

/**
 * Opens the registry of this site. Each call reads records and entities from the store; only the index may be older.
 */
async function openOwnRegistry(call: Call, trained: TrainedLens): Promise<LookupRegistry | Refusal> {
  const index = await call.part(registryIndexCachePart).openIndex(call, trained)
  if (isRefusal(index)) return index
  const { tenant_id, route } = trained.run.value
  return {
    lens: trained.lens.value.body,
    tenant_id,
    run: { id: trained.run.id, route },
    weights: trained.weights,
    index,
    async record(uid) {
      const doc = await findPresentRecord(call, uid)
      return doc && { ref: doc.value.ref, entity: doc.value.entity }
    },
    async entity(id) {
      const doc = await call.store(entityClusters).find(id)
      if (doc?.value.state !== 'live') return undefined
      const { label, size, members } = doc.value
      return { id, label, size, members }
    },
  }
}
