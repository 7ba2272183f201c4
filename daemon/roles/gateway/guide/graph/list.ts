// Lists the five graphs with their sizes and newest snapshots, as far as the administrator may see them.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../../kernel/operation/paging.ts'
import { graphEdges, graphIds, graphNodes } from './model.ts'
import { shownSnapshot, showSnapshot } from './show-graph.ts'
import { graphSnapshots } from './snapshot-model.ts'

const max_snapshots = 10

const shownGraph = z
  .strictObject({
    graph_id: z.enum(graphIds),
    nodes: z.int(),
    edges: z.int(),
    snapshots: z.array(shownSnapshot).meta({ description: `The newest, at most ${max_snapshots}` }),
  })
  .meta({ id: 'GuideGraph' })

export const list = operation({
  summary: 'List the decision graphs with their sizes and newest snapshots',
  method: 'GET',
  path: '/api/v1/guide/graphs',
  tool: 'guide_list_graphs',
  surface: 'admin_chat',
  input: z.strictObject({}),
  output: wholeListSchema(shownGraph).meta({ id: 'GuideGraphList' }),
  errors: [],
  allow: 'guide:admin',

  async run(call) {
    const nodes = await call.store(graphNodes).countBy('graph_id')
    const edges = await call.store(graphEdges).countBy('graph_id')
    const order = { field: 'taken_ts', direction: 'desc' } as const
    const items: z.output<typeof shownGraph>[] = []
    for (const graph_id of graphIds) {
      const filter = { graph_id, part: 0 }
      const { docs } = await call.store(graphSnapshots).list({ filter, order, limit: max_snapshots })
      items.push({
        ...{ graph_id, nodes: nodes.get(graph_id) ?? 0, edges: edges.get(graph_id) ?? 0 },
        snapshots: docs.map(({ value }) => showSnapshot(value)),
      })
    }
    return wholeList(items)
  },
})
