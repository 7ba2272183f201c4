// Lists the newest snapshots of decision graphs.
import type { ApiObject } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { graphName } from '../../program/graph-name.ts'
import { formatTable } from '../../terminal/output.ts'
import { printWholeList } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'guide snapshots',
  summary: 'List the ten newest snapshots of each decision graph, or of one',
  positionals: { graph: graphName('Only snapshots of this graph') },
  options: serviceOptions,
  example: 'platform guide snapshots intent_tool_graph',
  async run({ graph, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const graphs = (await api.call('gateway.guide.graph.list', {})).items as readonly ApiObject[]
    const items = graphs
      .filter(({ graph_id }) => graph === undefined || graph_id === graph)
      .flatMap(({ snapshots }) => snapshots as readonly ApiObject[])
    const columns = ['graph_id', 'snapshot_id', 'tier', 'taken_at', 'level', 'nodes', 'edges']
    printWholeList(terminal, params.json, items, () => formatTable(terminal, items, columns, 'there are no snapshots'))
    return 0
  },
})
