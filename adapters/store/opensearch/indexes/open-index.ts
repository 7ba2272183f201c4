// Indexes are made once: one that was made and is not there is lost, and a new one in its place would look sound and be empty.
import * as z from 'zod'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { ClusterFailure } from '../cluster/cluster-failure.ts'
import type { ClusterBinding, ClusterMemory } from '../cluster/known-cluster.ts'

/**
 * Makes the index behind the alias unless it is there; from then on it is remembered, before anything is written to it.
 * @throws ClusterFailure when it was there before and is not now.
 */
export async function openIndex(
  cluster: OpensearchCluster,
  memory: ClusterMemory,
  alias: string,
  body: object,
): Promise<void> {
  const isThere = async () => (await listAliases(cluster, alias)).has(alias)
  if (!(await isThere())) {
    if (memory.indexes().includes(alias)) throw new ClusterFailure('undone', 'an index is lost', 60)
    await cluster.request({ method: 'PUT', path: `/${alias}-1`, body }, z.unknown()).catch(async (error: unknown) => {
      // Another process was faster.
      if (!(await isThere())) throw error
    })
  }
  await memory.addIndex(alias)
}

/** Aliases of the indexes that were made and are not there. @throws ClusterFailure. */
export async function findLostIndexes(
  cluster: OpensearchCluster,
  { memory, base }: ClusterBinding,
  timeout_ms = cluster.timeout_ms,
): Promise<string[]> {
  const made = memory.indexes()
  if (made.length === 0) return []
  const there = await listAliases(cluster, base, timeout_ms)
  return made.filter((alias) => !there.has(alias))
}

const aliasesResponse = z.record(z.string(), z.object({ aliases: z.record(z.string(), z.unknown()) }))

/** Lists by a pattern of names, since a user with few rights may not query an index that does not exist. */
async function listAliases(
  cluster: OpensearchCluster,
  start: string,
  timeout_ms = cluster.timeout_ms,
): Promise<Set<string>> {
  const found = await cluster.request({ method: 'GET', path: `/${start}*/_alias`, timeout_ms }, aliasesResponse)
  return new Set(Object.values(found).flatMap((index) => Object.keys(index.aliases)))
}

/**
 * Alias and settings of a new index. Bulk writes require the alias: a removed index is then missed, and no write creates
 * it again.
 */
export function buildIndexHead(alias: string, replicas: number) {
  return {
    aliases: { [alias]: { is_write_index: true } },
    settings: { number_of_shards: 1, number_of_replicas: replicas, 'translog.durability': 'request' },
  }
}
