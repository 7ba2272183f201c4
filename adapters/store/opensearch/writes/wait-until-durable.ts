// Checks that every acknowledged write of an index is on disk, without writing it again.
import { setTimeout as rest } from 'node:timers/promises'
import * as z from 'zod'
import type { OpensearchCluster } from '../cluster/cluster.ts'
import { ClusterFailure } from '../cluster/cluster-failure.ts'

const poll_interval_ms = 50

/** Numbers of operations: the last one, and the one up to which every copy in sync has all of them on disk. */
type ShardProgress = { readonly last: number; readonly safe: number }

const shardCopy = z
  .object({
    routing: z.object({ primary: z.boolean() }),
    seq_no: z.object({ max_seq_no: z.int().min(-1), global_checkpoint: z.int().min(-2) }),
  })
  .transform(({ routing, seq_no }) => ({ ...routing, last: seq_no.max_seq_no, safe: seq_no.global_checkpoint }))
const statsResponse = z.object({
  _shards: z.object({ failed: z.literal(0) }),
  indices: z.record(z.string(), z.object({ shards: z.record(z.string(), z.array(shardCopy)) })),
})
const flushResponse = z.object({ _shards: z.object({ failed: z.literal(0) }) })

/**
 * Resolves when every operation that a read may have seen before the call will outlast the death of any one copy: none up
 * to the global checkpoint is ever taken back. @throws ClusterFailure: `unknown` when that takes too long.
 */
export async function waitUntilDurable(cluster: OpensearchCluster, alias: string): Promise<void> {
  const wanted = await readShardProgress(cluster, alias)
  const latest = performance.now() + cluster.timeout_ms
  await cluster.request({ method: 'POST', path: `/${alias}/_flush` }, flushResponse)
  for (;;) {
    const now = await readShardProgress(cluster, alias)
    if ([...wanted].every(([shard, { last }]) => (now.get(shard)?.safe ?? -2) >= last)) return
    if (performance.now() > latest) throw new ClusterFailure('unknown', 'copies of the index lag behind')
    await rest(poll_interval_ms)
  }
}

/** By shard, as its primary sees it. */
async function readShardProgress(cluster: OpensearchCluster, alias: string): Promise<Map<string, ShardProgress>> {
  const { indices } = await cluster.request(
    { method: 'GET', path: `/${alias}/_stats`, query: { level: 'shards' } },
    statsResponse,
  )
  const found = new Map<string, ShardProgress>()
  for (const [index, { shards }] of Object.entries(indices)) {
    for (const [number, copies] of Object.entries(shards)) {
      const primary = copies.find((each) => each.primary)
      if (primary) found.set(`${index} ${number}`, primary)
    }
  }
  if (found.size === 0) throw new ClusterFailure('unknown', 'no primary reports its checkpoints')
  return found
}
