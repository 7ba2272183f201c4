// Takes snapshots of graphs, loads them whole, and thins them out with age.
import { canonicalDigest, sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import type { GraphBook } from './graph-book.ts'
import { type GraphEdge, type GraphId, type GraphNode, graphIds } from './model.ts'
import { type GraphScope, scopeKey } from './rules.ts'
import { type GraphSnapshot, graphSnapshots } from './snapshot-model.ts'
import { planThinning, snapshot_keep_ms, type ThinningTerms } from './snapshot-rules.ts'

/** Nodes and edges of one part: some 400 KiB. */
const part_size = 500

type SnapshotContent = {
  readonly nodes: readonly { readonly id: string; readonly value: GraphNode }[]
  readonly edges: readonly { readonly id: string; readonly value: GraphEdge }[]
}

/**
 * Takes a snapshot of each graph of each tenant and label, once for the slot: a second process finds them. The copy in memory
 * must be that of the store.
 */
export async function takeSnapshots(
  call: Pick<Call, 'store' | 'now' | 'pause'>,
  book: GraphBook,
  slot: string,
): Promise<void> {
  for (const scope of listScopes(book))
    for (const graph_id of graphIds) {
      await takeSnapshot(call, book, scope, graph_id, slot)
      await call.pause()
    }
}

/** Tenants and labels that have a graph. */
export function listScopes({ nodes }: GraphBook): GraphScope[] {
  const scopes = new Map<string, GraphScope>()
  for (const { value } of nodes.values()) scopes.set(scopeKey(value), value)
  return [...scopes.values()]
}

/** Its id; undefined for a graph without a node. */
export async function takeSnapshot(
  call: Pick<Call, 'store' | 'now'>,
  book: GraphBook,
  scope: GraphScope,
  graph_id: GraphId,
  slot: string,
): Promise<string | undefined> {
  const content = pickGraph(book, scope, graph_id)
  if (content.nodes.length === 0) return undefined
  const store = call.store(graphSnapshots)
  const snapshot_id = `snapshot_${sha256(JSON.stringify([scopeKey(scope), graph_id, slot])).slice(0, 32)}`
  if (await store.find(snapshot_id)) return snapshot_id
  const parts = divideContent(content)
  const whole = {
    ...describeSnapshot(scope, call.now()),
    ...{ graph_id, snapshot_id, parts: parts.length, seq: book.seq ?? 0, tier: 'hourly' as const },
    ...{ node_count: content.nodes.length, edge_count: content.edges.length, digest: canonicalDigest(content) },
  }
  // The first part last: it makes the others a snapshot.
  for (const [part, { nodes, edges }] of [...parts.entries()].reverse()) {
    const next = { ...whole, part, nodes, edges }
    const created = await store.create(partId(snapshot_id, part), next)
    // Of a process that crashed before the first part: these parts belong to no snapshot yet.
    if (created === 'exists' && part > 0)
      await store.update(partId(snapshot_id, part), () => ({ next, answer: undefined }))
  }
  return snapshot_id
}

function describeSnapshot({ tenant_id, label }: GraphScope, now: number) {
  const visibility = label === undefined ? ('tenant' as const) : ('label' as const)
  return {
    ...{ tenant_id, ...(label === undefined ? {} : { label }), uds: { timestamp: now, username: 'guide', visibility } },
    ...{ create_ts: now, update_ts: now, schema_version: 1 as const, taken_ts: now },
    expires_ts: now + snapshot_keep_ms,
  }
}

type MutableContent = { nodes: SnapshotContent['nodes'][number][]; edges: SnapshotContent['edges'][number][] }

/** At least one part. */
function divideContent({ nodes, edges }: SnapshotContent): MutableContent[] {
  const parts: MutableContent[] = []
  for (let at = 0; at < nodes.length; at += part_size) parts.push({ nodes: nodes.slice(at, at + part_size), edges: [] })
  for (let at = 0; at < edges.length; at += part_size) parts.push({ nodes: [], edges: edges.slice(at, at + part_size) })
  return parts
}

function pickGraph({ nodes, edges }: GraphBook, scope: GraphScope, graph_id: GraphId): SnapshotContent {
  const key = scopeKey(scope)
  const pick = <T extends GraphNode | GraphEdge>(copy: ReadonlyMap<string, { id: string; value: T }>) =>
    [...copy.values()]
      .filter(({ value }) => value.graph_id === graph_id && scopeKey(value) === key)
      .map(({ id, value }) => ({ id, value }))
      .sort((one, other) => (one.id < other.id ? -1 : 1))
  return { nodes: pick(nodes), edges: pick(edges) }
}

function partId(snapshot_id: string, part: number): string {
  return part === 0 ? snapshot_id : `${snapshot_id}.${part}`
}

/** Throws `Refusal('not_found')` for one that is not there, or that the caller may not see. */
export async function loadSnapshot(call: Pick<Call, 'store'>, snapshot_id: string) {
  const store = call.store(graphSnapshots)
  const first = await store.get(snapshot_id)
  const nodes = [...first.value.nodes]
  const edges = [...first.value.edges]
  for (let part = 1; part < first.value.parts; part += 1) {
    const { value } = await store.get(partId(snapshot_id, part))
    nodes.push(...value.nodes)
    edges.push(...value.edges)
  }
  return { snapshot: first.value, nodes, edges }
}

/** Keeps one snapshot of each graph and day, then week, and removes the rest. Their content never changes. */
export async function thinSnapshots(call: Pick<Call, 'store' | 'now'>, terms: ThinningTerms): Promise<number> {
  const store = call.store(graphSnapshots)
  const all: GraphSnapshot[] = []
  const order = { field: 'taken_ts', direction: 'asc' } as const
  const query = { filter: { part: 0 }, order, fresh: true, page_size: 50 }
  // Without their content: of ten thousand snapshots it would not fit into memory.
  for await (const { value } of iterateDocuments(store, query)) all.push({ ...value, nodes: [], edges: [] })
  const { removed, retagged } = planThinning(all, call.now(), terms)
  for (const { snapshot_id, tier } of retagged)
    await store.update(snapshot_id, ({ value }) => ({ next: { ...value, tier }, answer: undefined }))
  for (const { snapshot_id, parts } of removed)
    for (let part = 0; part < parts; part += 1) {
      const id = partId(snapshot_id, part)
      if (await store.find(id)) await store.remove(id)
    }
  return removed.length
}
