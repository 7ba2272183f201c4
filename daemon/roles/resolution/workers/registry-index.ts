// Completes the indexes of registries that a lookup or an arrival began to load and did not wait for.
import type { Worker } from '../../../kernel/role/role.ts'
import { isLookupOnly } from '../matching.ts'
import { registryIndexCachePart, snapshotIndexCachePart } from '../parts.ts'

export const registryIndexWorker: Worker = {
  name: 'registry-index',
  when: { every_ms: 60_000 },
  run: async (call) =>
    isLookupOnly(call)
      ? await call.part(snapshotIndexCachePart).continueLoading(call)
      : await call.part(registryIndexCachePart).continueLoading(call),
}
