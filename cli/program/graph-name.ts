// The name of a decision graph, as commands take it.
import { choice } from './params.ts'

export const graphName = choice('GRAPH', 'Name of the graph', [
  'intent_tool_graph',
  'prompt_shape_graph',
  'service_routing_graph',
  'outcome_graph',
  'iteration_graph',
])
