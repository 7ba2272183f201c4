// Shows a graph as it is now, or as a snapshot has it: its nodes that occurred most often, and the edges between them.
import * as z from 'zod'
import { refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { loadSnapshot } from './graph-snapshots.ts'
import { graphEdges, graphIds, graphNodes } from './model.ts'
import { showEdge, showNode, shownEdge, shownNode, shownSnapshot, showSnapshot } from './show-graph.ts'

export const get = operation({
  summary: 'Show a decision graph, as it is or as a snapshot has it',
  method: 'GET',
  path: '/api/v1/guide/graphs/{graph_id}',
  tool: 'guide_get_graph_snapshot',
  surface: 'admin_chat',
  input: z.strictObject({
    graph_id: z.enum(graphIds),
    snapshot_id: z.string().min(1).max(128).optional().meta({ description: 'Default: the graph as it is now' }),
    limit: z.int().min(1).max(500).default(100).meta({ description: 'Largest number of nodes, and of edges' }),
  }),
  output: z
    .strictObject({
      graph_id: z.enum(graphIds),
      snapshot: shownSnapshot.optional(),
      nodes: z.array(shownNode),
      edges: z.array(shownEdge),
    })
    .meta({ id: 'GuideGraphContent' }),
  errors: ['not_found'],
  allow: 'guide:admin',

  async run(call, { graph_id, snapshot_id, limit }) {
    if (snapshot_id === undefined) {
      const query = { filter: { graph_id }, order: { field: 'last_seen_ts', direction: 'desc' }, limit } as const
      const nodes = await call.store(graphNodes).list(query)
      const edges = await call.store(graphEdges).list(query)
      return {
        graph_id,
        nodes: nodes.docs.map(({ id, value }) => showNode(id, value)),
        edges: edges.docs.map(({ value }) => showEdge(value)),
      }
    }
    const { snapshot, nodes, edges } = await loadSnapshot(call, snapshot_id)
    if (snapshot.graph_id !== graph_id || snapshot.part !== 0)
      return refuse('not_found', `${graph_id} has no such snapshot`)
    const often = nodes.sort((one, other) => other.value.occurrences - one.value.occurrences).slice(0, limit)
    const strong = edges.sort((one, other) => other.value.count - one.value.count).slice(0, limit)
    return {
      ...{ graph_id, snapshot: showSnapshot(snapshot) },
      nodes: often.map(({ id, value }) => showNode(id, value)),
      edges: strong.map(({ value }) => showEdge(value)),
    }
  },
})
