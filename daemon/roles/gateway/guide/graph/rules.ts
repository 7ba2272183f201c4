// Pure changes of nodes and edges: each batch of observations changes each of them at most once.
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { type Label, labelKey } from '../../../../kernel/label/label.ts'
import { type GraphEdge, type GraphId, type GraphNode, max_traces, type nodeKinds, type OutcomeLabel } from './model.ts'

export type NodeKind = (typeof nodeKinds)[number]

/** Where statistics are kept apart: a tenant and a label. */
export type GraphScope = { readonly tenant_id: string; readonly label?: Label | undefined }

export function scopeKey({ tenant_id, label }: GraphScope): string {
  return JSON.stringify([tenant_id, label === undefined ? '' : labelKey(label)])
}

export function nodeId(scope: GraphScope, graph_id: GraphId, kind: NodeKind, node_label: string): string {
  return `node_${sha256(JSON.stringify([scopeKey(scope), graph_id, kind, node_label])).slice(0, 32)}`
}

export function edgeId(source_id: string, target_id: string): string {
  return `edge_${sha256(`${source_id} ${target_id}`).slice(0, 32)}`
}

/** Events after which half of the weight of an older one is left. */
const recent_half_life = 10
const long_half_life = 100
const stepOf = (half_life: number) => 1 - 2 ** (-1 / half_life)
const recent_step = stepOf(recent_half_life)
const long_step = stepOf(long_half_life)

type SeenTimes = { first_ts: number; last_ts: number; trace_ids: string[] }

/** What one batch adds to a node. */
export type NodeDelta = SeenTimes & {
  readonly id: string
  readonly scope: GraphScope
  readonly graph_id: GraphId
  readonly kind: NodeKind
  readonly node_label: string
  /** Zero: outcomes of earlier occurrences came alone. */
  occurrences: number
  outcomes: Partial<Record<OutcomeLabel, number>>
}

/** What one batch adds to an edge: a value from 0 to 1 for each event that it is weighed by. */
export type EdgeDelta = SeenTimes & {
  readonly id: string
  readonly scope: GraphScope
  readonly graph_id: GraphId
  readonly source_id: string
  readonly target_id: string
  readonly target_graph_id?: GraphId
  /** Events in which it was taken; zero: it was only weighed against one that was, and is not made for that. */
  count: number
  /** In the order of their events. */
  values: number[]
  /** Edges that share the decisions at the source with it, which are weighed together; empty for all others. */
  readonly siblings: readonly string[]
}

const systemFields = (scope: GraphScope, now: number) => ({
  tenant_id: scope.tenant_id,
  ...(scope.label === undefined ? {} : { label: scope.label }),
  uds: {
    timestamp: now,
    username: 'guide',
    visibility: scope.label === undefined ? ('tenant' as const) : ('label' as const),
  },
  ...{ create_ts: now, update_ts: now, schema_version: 1 as const },
})

/** `now`: of the batch. */
export function applyNode(current: GraphNode | undefined, delta: NodeDelta, seq: number, now: number): GraphNode {
  const { graph_id, kind, node_label, occurrences, outcomes, first_ts, last_ts, trace_ids } = delta
  const before = current ?? {
    ...{ ...systemFields(delta.scope, now), graph_id, kind, node_label, occurrences: 0 },
    ...{ first_seen_ts: first_ts, last_seen_ts: last_ts, outcome_distribution: {}, tags: [], trace_ids: [] },
  }
  const distribution: GraphNode['outcome_distribution'] = { ...before.outcome_distribution }
  for (const [outcome, count] of Object.entries(outcomes) as [OutcomeLabel, number][])
    distribution[outcome] = (distribution[outcome] ?? 0) + count
  return {
    ...before,
    update_ts: now,
    occurrences: Math.max(1, before.occurrences + occurrences),
    outcome_distribution: distribution,
    first_seen_ts: Math.min(before.first_seen_ts, first_ts),
    last_seen_ts: Math.max(before.last_seen_ts, last_ts),
    trace_ids: joinTraces(before.trace_ids, trace_ids),
    applied_seq: seq,
  }
}

/**
 * `prior`: values of its siblings before this batch, all of which were 0 for an edge that did not exist. Undefined: an edge
 * that is only weighed is not made.
 */
export function applyEdge(
  current: GraphEdge | undefined,
  delta: EdgeDelta,
  prior: number,
  { seq, now }: { readonly seq: number; readonly now: number },
): GraphEdge | undefined {
  const { graph_id, source_id, target_id, target_graph_id, count, values, first_ts, last_ts, trace_ids } = delta
  if (!current && count === 0) return undefined
  const start = prior > 0 ? 0 : (values[0] ?? 0)
  const before = current ?? {
    ...{ ...systemFields(delta.scope, now), graph_id, source_id, target_id },
    ...(target_graph_id === undefined ? {} : { target_graph_id }),
    ...{ weight: start, count: 0, first_seen_ts: first_ts, last_seen_ts: last_ts },
    ...{ recent_weight: start, long_weight: start, trace_ids: [], weighed: prior },
  }
  let { recent_weight, long_weight, weight, weighed } = before
  for (const value of values) {
    recent_weight += recent_step * (value - recent_weight)
    long_weight += long_step * (value - long_weight)
    weighed += 1
    weight += (value - weight) / weighed
  }
  return {
    ...before,
    ...{ update_ts: now, weight, recent_weight, long_weight, weighed, count: before.count + count },
    first_seen_ts: Math.min(before.first_seen_ts, first_ts),
    last_seen_ts: Math.max(before.last_seen_ts, last_ts),
    trace_ids: joinTraces(before.trace_ids, trace_ids),
    applied_seq: seq,
  }
}

/** The newest ones, each once. */
export function joinTraces(before: readonly string[], after: readonly string[]): string[] {
  const joined = new Set(before)
  for (const trace of after) {
    joined.delete(trace)
    joined.add(trace)
  }
  return [...joined].slice(-max_traces)
}

/** Values that the siblings of an edge had before the batch; that of the batch itself is in those that it has changed. */
export function countPrior(
  delta: EdgeDelta,
  find: (id: string) => Pick<GraphEdge, 'weighed' | 'applied_seq'> | undefined,
  seq: number,
): number {
  const before = delta.siblings.map((id) => {
    const sibling = find(id)
    if (!sibling) return 0
    return sibling.weighed - (sibling.applied_seq >= seq ? delta.values.length : 0)
  })
  return Math.max(0, ...before)
}
