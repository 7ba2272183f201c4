// The name of a decision graph, as commands take it.
import { choice } from './params.ts'

const graphNames = [
  'intent_tool_graph',
  'prompt_shape_graph',
  'service_routing_graph',
  'outcome_graph',
  'iteration_graph',
] as const

export const graphName = (help = 'Name of the graph') => choice('GRAPH', help, graphNames)
