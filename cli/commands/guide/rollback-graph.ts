// Restores a decision graph from a snapshot.
import { groundOptions } from '../../options/guide-options.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { graphName } from '../../program/graph-name.ts'
import { required, text } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide rollback-graph',
  summary: 'Restore a decision graph from a snapshot',
  notes: 'The graph as it was before becomes a snapshot too.',
  positionals: { graph: required(graphName()) },
  options: {
    to: required(text('SNAPSHOT', 'Snapshot to restore')),
    reason: groundOptions.reason,
    ...serviceOptions,
  },
  example: 'platform guide rollback-graph intent_tool_graph --to snapshot_… --reason "poisoned traces"',
  async run({ graph, to, reason, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const input = { graph_id: graph, snapshot_id: to, rationale: reason }
    const restored = await api.call('gateway.guide.graph.rollback', input)
    printResult(terminal, params.json, restored, () => {
      const { before_snapshot_id } = restored
      const before = before_snapshot_id === undefined ? 'it was empty before' : `before: ${before_snapshot_id}`
      return `${graph} is restored from ${to}; ${before}`
    })
    return 0
  },
})
