// Takes a snapshot of a decision graph.
import type { ApiObject } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { graphName } from '../../program/graph-name.ts'
import { required } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide snapshot',
  summary: 'Take a snapshot of a decision graph now, one for each label',
  positionals: { graph: required(graphName()) },
  options: serviceOptions,
  example: 'platform guide snapshot intent_tool_graph',
  async run({ graph, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const taken = await api.call('gateway.guide.graph.snapshot', { graph_id: graph })
    const rows = taken.snapshots as readonly ApiObject[]
    const columns = ['snapshot_id', 'taken_at', 'level', 'nodes', 'edges']
    printResult(terminal, params.json, taken, () => formatTable(terminal, rows, columns, 'the graph is empty'))
    return 0
  },
})
