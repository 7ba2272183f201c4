// Searches a registry in the matching thread, and reads for it what the caller may see.
import type { Call } from '../../../kernel/operation/call.ts'
import type { RecordRef } from '../fields.ts'
import type { NodeRecord } from '../fusion-run/node-data.ts'
import type { MatchingAnswers } from '../matching-thread/matching-jobs.ts'
import { requestJob } from '../matching-thread/request-job.ts'
import type { LookupEntity, LookupRegistry, ShownCandidate } from './lookup-registry.ts'

/** Returns candidates, best first; undefined for a record without any value that the lens reads. */
export async function searchRegistry(
  call: Call,
  registry: LookupRegistry,
  query: { readonly record: NodeRecord; readonly ref: RecordRef | undefined; readonly limit: number },
): Promise<readonly ShownCandidate[] | undefined> {
  const { lens, weights, tenant_id, run, index } = registry
  const job = { ...query, lens, weights, tenant_id, route: run.route, index }
  return await requestJob(call, 'look_up', job, createAnswers(registry))
}

/** Members of an entity that cross to the thread; it compares a hundred of them at most. */
const max_members = 2_000

function createAnswers(registry: LookupRegistry): MatchingAnswers {
  const loaded = new Map<string, LookupEntity | undefined>()
  const loadEntity = async (id: string) => {
    if (!loaded.has(id)) loaded.set(id, abridge(await registry.entity(id)))
    return loaded.get(id)
  }
  return {
    async entities_of(uids) {
      const entities: (LookupEntity | undefined)[] = []
      for (const uid of uids) {
        const id = (await registry.record(uid))?.entity
        entities.push(id === undefined ? undefined : await loadEntity(id))
      }
      return entities
    },
    visible_records: async (uids) => await Promise.all(uids.map(registry.record)),
  }
}

function abridge(entity: LookupEntity | undefined): LookupEntity | undefined {
  return entity && { ...entity, members: entity.members.slice(0, max_members) }
}
