// How nodes, edges and snapshots of graphs are shown to administrators.
import * as z from 'zod'
import { type GraphEdge, type GraphNode, graphIds, nodeKinds, outcomes } from './model.ts'
import { type GraphSnapshot, snapshotTiers } from './snapshot-model.ts'

export const shownNode = z
  .strictObject({
    node_id: z.string(),
    kind: z.enum(nodeKinds),
    label: z.string(),
    occurrences: z.int(),
    outcomes: z.partialRecord(z.enum(outcomes), z.int()),
    first_seen_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime(),
    trace_ids: z.array(z.string()),
  })
  .meta({ id: 'GuideGraphNode' })

export const shownEdge = z
  .strictObject({
    source_id: z.string(),
    target_id: z.string(),
    target_graph_id: z.enum(graphIds).optional(),
    weight: z.number(),
    recent_weight: z.number(),
    long_weight: z.number(),
    count: z.int(),
    last_seen_at: z.iso.datetime(),
    trace_ids: z.array(z.string()),
  })
  .meta({ id: 'GuideGraphEdge' })

export const shownSnapshot = z
  .strictObject({
    snapshot_id: z.string(),
    graph_id: z.enum(graphIds),
    tier: z.enum(snapshotTiers),
    level: z.string().optional(),
    taken_at: z.iso.datetime(),
    nodes: z.int(),
    edges: z.int(),
    digest: z.string(),
  })
  .meta({ id: 'GuideGraphSnapshot' })

const isoOf = (at: number) => new Date(at).toISOString()

export function showNode(node_id: string, node: GraphNode): z.output<typeof shownNode> {
  const { kind, node_label, occurrences, outcome_distribution, first_seen_ts, last_seen_ts, trace_ids } = node
  return {
    ...{ node_id, kind, label: node_label, occurrences, outcomes: outcome_distribution, trace_ids },
    ...{ first_seen_at: isoOf(first_seen_ts), last_seen_at: isoOf(last_seen_ts) },
  }
}

export function showEdge(edge: GraphEdge): z.output<typeof shownEdge> {
  const { source_id, target_id, target_graph_id, weight, recent_weight, long_weight, count, trace_ids } = edge
  return {
    ...{ source_id, target_id, ...(target_graph_id === undefined ? {} : { target_graph_id }) },
    ...{ weight, recent_weight, long_weight, count, trace_ids, last_seen_at: isoOf(edge.last_seen_ts) },
  }
}

export function showSnapshot(snapshot: GraphSnapshot): z.output<typeof shownSnapshot> {
  const { snapshot_id, graph_id, tier, label, taken_ts, node_count, edge_count, digest } = snapshot
  return {
    ...{ snapshot_id, graph_id, tier, ...(label === undefined ? {} : { level: label.level }) },
    ...{ taken_at: isoOf(taken_ts), nodes: node_count, edges: edge_count, digest },
  }
}
