// The registry that a caller looks a record up in.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, recordUid } from '../entity-record/model.ts'
import { isLookupOnly } from '../matching.ts'
import { registryIndexCachePart, snapshotIndexCachePart } from '../parts.ts'
import type { LookupRegistry } from './lookup-registry.ts'
import { findTrainedLens, type LensSelector, type TrainedLens } from './trained-lens.ts'

export async function openLookupRegistry(call: Call, asked: LensSelector): Promise<LookupRegistry | Refusal> {
  if (isLookupOnly(call)) return await call.part(snapshotIndexCachePart).openRegistry(call, asked)
  const learnt = await findTrainedLens(call, asked)
  return isRefusal(learnt) ? learnt : await openOwnRegistry(call, learnt)
}

/** What the store tells the caller, each time anew; only the index is of before. */
async function openOwnRegistry(call: Call, learnt: TrainedLens): Promise<LookupRegistry | Refusal> {
  const index = await call.part(registryIndexCachePart).openIndex(call, learnt)
  if (isRefusal(index)) return index
  const { tenant_id, lens, route } = learnt.run.value
  return {
    lens: learnt.lens.value.body,
    run: { id: learnt.run.id, route },
    weights: learnt.weights,
    index,
    uidOf: (ref) => recordUid(tenant_id, lens, ref),
    record: async (uid) => (await call.store(entityRecords).find(uid))?.value,
    async entity(id) {
      const found = await call.store(entityClusters).find(id)
      if (found?.value.state !== 'live') return undefined
      const { label, size, members } = found.value
      return { id, label, size, members }
    },
  }
}
