// The five decision graphs: nodes and edges with two windows, and snapshots (document 002, "Decision graphs").
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { documentFields } from '../document-fields.ts'

export const graphIds = [
  'intent_tool_graph',
  'prompt_shape_graph',
  'service_routing_graph',
  'outcome_graph',
  'iteration_graph',
] as const
export type GraphId = (typeof graphIds)[number]

export const nodeKinds = [
  'intent',
  'tool',
  'prompt_shape',
  'service',
  'decision_point',
  'outcome',
  'iteration_state',
] as const
export const outcomes = ['success', 'error', 'feedback_up', 'feedback_down', 'feedback_abandoned'] as const
export type OutcomeLabel = (typeof outcomes)[number]
/** How a run, a call or a turn ended, and how it was judged: the outcomes of a decision are shared among one of these. */
export const executions: readonly OutcomeLabel[] = ['success', 'error']
export const verdicts: readonly OutcomeLabel[] = ['feedback_up', 'feedback_down', 'feedback_abandoned']

/** Of a chain of turns or corrections; the rest of a longer one is its last state. */
export const max_iterations = 16

/** Of one node or edge: the newest. */
export const max_traces = 16
const traces = z.array(z.string()).max(max_traces)

/** The newest batch of observations in it: a batch that is applied again after a crash changes it no more. */
const appliedSeq = z.int().min(0)

export const graphNode = z.strictObject({
  ...documentFields,
  graph_id: z.enum(graphIds),
  kind: z.enum(nodeKinds),
  /** `<service>/<label>`; bare for services and outcomes. */
  node_label: z.string().min(1).max(300),
  occurrences: z.int().min(1),
  first_seen_ts: z.number(),
  last_seen_ts: z.number(),
  outcome_distribution: z.partialRecord(z.enum(outcomes), z.int().min(0)),
  tags: z.array(z.string()).max(64),
  /** The newest that it occurred in. */
  trace_ids: traces,
  applied_seq: appliedSeq,
})
export type GraphNode = z.infer<typeof graphNode>

export const graphEdge = z.strictObject({
  ...documentFields,
  graph_id: z.enum(graphIds),
  source_id: z.string(),
  target_id: z.string(),
  /** Set for an edge between two graphs. */
  target_graph_id: z.enum(graphIds).optional(),
  /** Mean of all its values from 0 to 1: how often it went well, or its share of the decisions at its source. */
  weight: z.number(),
  count: z.int().min(1),
  first_seen_ts: z.number(),
  last_seen_ts: z.number(),
  /** Exponentially weighted means over a short and a long horizon; their divergence is the signal of drift. */
  recent_weight: z.number(),
  long_weight: z.number(),
  /** Values that its weight is the mean of: for a share, those of other choices too. */
  weighed: z.int().min(1),
  trace_ids: traces,
  applied_seq: appliedSeq,
})
export type GraphEdge = z.infer<typeof graphEdge>

export const graphNodes = collection({
  name: 'guide_graph_node',
  schema: graphNode,
  indexes: ['graph_id', 'kind', 'node_label', 'last_seen_ts', 'applied_seq'],
  documented: { alias: 'guide_graph_nodes', fields: { graph_id: 'graph_id', kind: 'kind' } },
})
export const graphEdges = collection({
  name: 'guide_graph_edge',
  schema: graphEdge,
  indexes: ['graph_id', 'source_id', 'target_id', 'last_seen_ts', 'applied_seq'],
  documented: {
    alias: 'guide_graph_edges',
    fields: { graph_id: 'graph_id', source_id: 'source_id', target_id: 'target_id' },
  },
})
