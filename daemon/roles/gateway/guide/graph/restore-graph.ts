// Makes a graph of one tenant and label that of a snapshot; done again after a crash, it ends in the same state.
import type { GraphBook, GraphStores } from './graph-book.ts'
import { loadSnapshot } from './graph-snapshots.ts'
import type { GraphWork } from './head-model.ts'
import { graphEdges, graphNodes } from './model.ts'
import { scopeKey } from './rules.ts'

export async function restoreGraph(
  stores: GraphStores,
  book: GraphBook,
  { scope, graph_id, snapshot_id }: Extract<GraphWork, { kind: 'rollback' }>,
  seq: number,
): Promise<void> {
  const snapshot = await loadSnapshot(stores, snapshot_id)
  const isOfGraph = ({ value }: { value: { graph_id: string; tenant_id: string; label?: unknown } }) =>
    value.graph_id === graph_id && scopeKey(value as typeof scope) === scopeKey(scope)
  const now = stores.now()
  for (const [collection, copy, restored] of [
    [graphNodes, book.nodes, snapshot.nodes],
    [graphEdges, book.edges, snapshot.edges],
  ] as const) {
    const store = stores.store(collection as typeof graphNodes)
    const kept = new Set(restored.map(({ id }) => id))
    for (const doc of [...copy.values()].filter(isOfGraph)) {
      if (kept.has(doc.id) || doc.value.applied_seq >= seq) continue
      if (await store.find(doc.id)) await store.remove(doc.id)
      copy.delete(doc.id)
    }
    for (const { id, value } of restored) {
      const next = { ...value, applied_seq: seq, update_ts: now } as never
      const created = await store.create(id, next)
      const doc = created === 'exists' ? (await store.update(id, () => ({ next, answer: undefined }))).doc : created
      copy.set(id, doc as never)
    }
    await stores.pause()
  }
  book.forgetTraces(now)
}
