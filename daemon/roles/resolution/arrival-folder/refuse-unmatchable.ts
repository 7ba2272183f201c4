// Finds why nothing can be matched with a registry now, so that files wait for it and do not fail one by one.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { ArrivalTarget } from '../arrival/store-arrival.ts'
import { registryIndexCachePart } from '../parts.ts'

/**
 * Refuses `unavailable` with the reason: values in an earlier form of texts after an update, more records than this site allows,
 * or an index that is still being loaded. `service`: matches with the records of every label, as arrivals are.
 */
export async function refuseUnmatchable(service: Call, { trained }: ArrivalTarget): Promise<Refusal | undefined> {
  const index = await service.part(registryIndexCachePart).openIndex(service, trained)
  return isRefusal(index) ? refuse('unavailable', index.message) : undefined
}
