// Shows a decision graph, as it is or as a snapshot has it.
import { formatGraph } from '../../format/guide-graph.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { graphName } from '../../program/graph-name.ts'
import { integer, required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide graph',
  summary: 'Show a decision graph, as it is or as a snapshot has it',
  positionals: { graph: required(graphName()) },
  options: {
    snapshot: text('SNAPSHOT', 'As this snapshot has it (default: as it is now)'),
    limit: integer('COUNT', 'Maximum number of nodes, and of edges (default: 100)', 1, 500),
    ...serviceOptions,
  },
  example: 'platform guide graph intent_tool_graph',
  async run({ graph, snapshot, limit, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const input = { graph_id: graph, snapshot_id: snapshot, ...(limit === undefined ? {} : { limit }) }
    const content = await api.call('gateway.guide.graph.get', input)
    printResult(terminal, params.json, content, () => formatGraph(terminal, content))
    return 0
  },
})
