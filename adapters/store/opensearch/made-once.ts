// Indexes are made once: one that was made and is not there is lost, and a new one in its place would look sound and be empty.
import * as z from 'zod'
import type { Cluster } from './cluster.ts'
import { ClusterFailure } from './failure.ts'
import type { ClusterMemory, Known } from './known-cluster.ts'

const aliases = z.record(z.string(), z.object({ aliases: z.record(z.string(), z.unknown()) }))

/**
 * Makes the index behind the alias unless it is there; from then on it is remembered, before anything is written to it.
 * @throws ClusterFailure when it was there before and is not now.
 */
export async function openIndex(cluster: Cluster, memory: ClusterMemory, alias: string, body: object): Promise<void> {
  const isThere = () => cluster.ask({ method: 'HEAD', path: `/_alias/${alias}` }, z.boolean())
  if (!(await isThere())) {
    if (memory.indexes().includes(alias)) throw new ClusterFailure('undone', 'an index is lost', 60)
    await cluster.ask({ method: 'PUT', path: `/${alias}-1`, body }, z.unknown()).catch(async (error: unknown) => {
      // Another process was faster.
      if (!(await isThere())) throw error
    })
  }
  await memory.addIndex(alias)
}

/** Aliases of the indexes that were made and are not there. @throws ClusterFailure. */
export async function lostIndexes(cluster: Cluster, { memory, base }: Known): Promise<string[]> {
  const made = memory.indexes()
  if (made.length === 0) return []
  const found = await cluster.ask({ method: 'GET', path: `/${base}*/_alias` }, aliases)
  const there = new Set(Object.values(found).flatMap((index) => Object.keys(index.aliases)))
  return made.filter((alias) => !there.has(alias))
}
