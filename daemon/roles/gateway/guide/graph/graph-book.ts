// The graphs of this process: a copy in memory of every node and edge, rebuilt from the store, and written through to it.
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import type { Collection, Doc, WriteOutcome } from '../../../../kernel/store/store.ts'
import { WorkflowMemory } from '../workflow/workflow-memory.ts'
import { type GraphEdge, type GraphId, type GraphNode, graphEdges, graphNodes } from './model.ts'
import type { GraphAdmission } from './plan.ts'
import { applyEdge, applyNode, countPrior, type EdgeDelta, type GraphScope, type NodeDelta, scopeKey } from './rules.ts'
import { BoundedMemory, type ConversationMemory, type TraceMemory } from './trace-memory.ts'

/** What work on the graphs needs of a call of a service of the site. */
export type GraphStores = Pick<Call, 'store' | 'now' | 'pause'>

/** Of one graph of a tenant and a label: its further labels are counted together. */
export const max_nodes = 2_000
/** Of a process. */
const max_all_nodes = 100_000
/** Of one graph, whose nodes could otherwise have millions of them. */
export const max_edges = 10_000
const max_all_edges = 300_000
/** Writes of one call of the store. */
const bulk_size = 100
/** Another process has changed the document each time. */
const max_attempts = 10

export class GraphBook {
  readonly nodes = new Map<string, Doc<GraphNode>>()
  readonly edges = new Map<string, Doc<GraphEdge>>()
  readonly memory = {
    traces: new BoundedMemory<TraceMemory>(),
    conversations: new BoundedMemory<ConversationMemory>(),
    workflows: new WorkflowMemory(),
  }
  /** The newest batch that the copy has; undefined: it must be read from the store. */
  seq: number | undefined
  readonly #sizes = new Map<string, number>()
  readonly #edgeCounts = new Map<string, number>()

  /** Forgets all that is in memory. */
  clear(now: number): void {
    this.nodes.clear()
    this.edges.clear()
    this.#sizes.clear()
    this.#edgeCounts.clear()
    this.forgetTraces(now)
    this.memory.workflows.clear()
    this.seq = undefined
  }

  /** Forgets what traces did: other processes may have gone on with them, or their nodes are gone. */
  forgetTraces(now: number): void {
    this.memory.traces.clear(now)
    this.memory.conversations.clear(now)
  }

  /** Reads what other processes, or this one before a crash, have changed up to `seq`, whose work is done. */
  async catchUp(stores: GraphStores, seq: number): Promise<void> {
    if (this.seq === seq) return
    const filter = this.seq === undefined ? {} : { applied_seq: { gt: this.seq } }
    for await (const doc of iterateDocuments(stores.store(graphNodes), { filter, fresh: true })) this.#keepNode(doc)
    for await (const doc of iterateDocuments(stores.store(graphEdges), { filter, fresh: true })) this.#keepEdge(doc)
    this.forgetTraces(stores.now())
    this.seq = seq
  }

  readonly admits: GraphAdmission = (scope, graph_id, id) =>
    this.nodes.has(id) || (this.nodes.size < max_all_nodes && this.#sizeOf(scope, graph_id) < max_nodes)

  readonly admitsEdge: GraphAdmission = (scope, graph_id, id) =>
    this.edges.has(id) ||
    (this.edges.size < max_all_edges && (this.#edgeCounts.get(sizeKey(scope, graph_id)) ?? 0) < max_edges)

  /** Applies a batch to the store and the copy. Done again after a crash, it changes nothing a second time. */
  async apply(
    stores: GraphStores,
    plan: { readonly nodes: readonly NodeDelta[]; readonly edges: readonly EdgeDelta[] },
    seq: number,
  ): Promise<void> {
    const now = stores.now()
    const nodes = this.#write(stores, graphNodes, this.nodes, plan.nodes, (delta, current) =>
      current && current.applied_seq >= seq ? undefined : applyNode(current, delta, seq, now),
    )
    // All edges of a share are judged by how they were before any of them changed, also on a second run.
    const priors = new Map(
      plan.edges.map((delta) => [delta.id, countPrior(delta, (id) => this.edges.get(id)?.value, seq)]),
    )
    const edges = this.#write(stores, graphEdges, this.edges, plan.edges, (delta, current) =>
      current && current.applied_seq >= seq
        ? undefined
        : applyEdge(current, delta, priors.get(delta.id) ?? 0, { seq, now }),
    )
    for (const each of await Promise.allSettled([nodes, edges])) if (each.status === 'rejected') throw each.reason
  }

  async #write<T extends GraphNode | GraphEdge, D extends { readonly id: string }>(
    stores: GraphStores,
    collection: Collection<T>,
    copy: Map<string, Doc<T>>,
    deltas: readonly D[],
    change: (delta: D, current: T | undefined) => T | undefined,
  ): Promise<void> {
    for (let at = 0; at < deltas.length; at += bulk_size) {
      let open = deltas.slice(at, at + bulk_size)
      for (let attempt = 1; open.length > 0; attempt += 1) {
        if (attempt > max_attempts) throw new Error(`${collection.name} is changed by another process all the time`)
        open = await this.#writeOnce(stores, collection, copy, open, change)
      }
      await stores.pause()
    }
  }

  /** Returns those that another process has changed meanwhile, which the copy now has as they are. */
  async #writeOnce<T extends GraphNode | GraphEdge, D extends { readonly id: string }>(
    stores: GraphStores,
    collection: Collection<T>,
    copy: Map<string, Doc<T>>,
    deltas: readonly D[],
    change: (delta: D, current: T | undefined) => T | undefined,
  ): Promise<D[]> {
    const changes = deltas.flatMap((delta) => {
      const current = copy.get(delta.id)
      const value = change(delta, current?.value)
      return value === undefined ? [] : [{ delta, current, value }]
    })
    if (changes.length === 0) return []
    const store = stores.store(collection)
    const outcomes: readonly WriteOutcome[] = await store.bulk(
      changes.map(({ delta: { id }, current, value }) =>
        current ? { do: 'put', id, value, version: current.version } : { do: 'create', id, value },
      ),
    )
    const again: D[] = []
    for (const [at, { delta, current, value }] of changes.entries()) {
      if (outcomes[at] === 'done') {
        this.#keep({ id: delta.id, version: (current?.version ?? 0) + 1, value })
        continue
      }
      const stored = await store.find(delta.id)
      if (stored) this.#keep(stored)
      else copy.delete(delta.id)
      again.push(delta)
    }
    return again
  }

  #keep(doc: Doc<GraphNode | GraphEdge>): void {
    if ('kind' in doc.value) this.#keepNode(doc as Doc<GraphNode>)
    else this.#keepEdge(doc as Doc<GraphEdge>)
  }

  #keepEdge(doc: Doc<GraphEdge>): void {
    if (!this.edges.has(doc.id)) {
      const key = sizeKey(doc.value, doc.value.graph_id)
      this.#edgeCounts.set(key, (this.#edgeCounts.get(key) ?? 0) + 1)
    }
    this.edges.set(doc.id, doc)
  }

  #keepNode(doc: Doc<GraphNode>): void {
    if (!this.nodes.has(doc.id)) {
      const key = sizeKey(doc.value, doc.value.graph_id)
      this.#sizes.set(key, (this.#sizes.get(key) ?? 0) + 1)
    }
    this.nodes.set(doc.id, doc)
  }

  #sizeOf(scope: GraphScope, graph_id: GraphId): number {
    return this.#sizes.get(sizeKey(scope, graph_id)) ?? 0
  }
}

function sizeKey(scope: GraphScope, graph_id: GraphId): string {
  return `${scopeKey(scope)} ${graph_id}`
}
