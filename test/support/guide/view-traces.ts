// The graphs that a list of traces leads to, as far as the check for drift reads them.
import { GraphView, type ViewedEdge } from '../../../daemon/roles/gateway/guide/drift/graph-view.ts'
import type { TraceRecord } from '../../../daemon/roles/gateway/guide/learning/trace-record.ts'

type ViewedNode = {
  readonly id: string
  readonly kind: 'intent' | 'tool' | 'outcome' | 'decision_point'
  readonly node_label: string
}
type CountedEdge = Omit<ViewedEdge, 'source' | 'target' | 'weight'> & {
  readonly source_id: string
  readonly target_id: string
}

export function viewTraces(traces: readonly TraceRecord[]): GraphView {
  const nodes = new Map<string, ViewedNode>()
  const edges = new Map<string, CountedEdge & { sum: number }>()
  const node = (kind: ViewedNode['kind'], node_label: string) => {
    const id = `${kind} ${node_label}`
    nodes.set(id, { id, kind, node_label })
    return id
  }
  const weigh = (graph_id: ViewedEdge['graph_id'], source_id: string, target_id: string, value: number) => {
    const key = `${source_id} ${target_id}`
    const known = edges.get(key) ?? {
      graph_id,
      source_id,
      target_id,
      count: 0,
      sum: 0,
      recent_weight: value,
      long_weight: value,
    }
    const count = known.count + 1
    const sum = known.sum + value
    const mean = sum / count
    edges.set(key, { ...known, count, sum, recent_weight: mean, long_weight: mean })
  }
  for (const { intent_class, calls } of traces) {
    const intent = node('intent', `gateway/${intent_class}`)
    for (const { tool, isFailure } of calls) {
      weigh('intent_tool_graph', intent, node('tool', tool), isFailure ? 0 : 1)
      const decision = node('decision_point', tool)
      weigh('outcome_graph', decision, node('outcome', 'success'), isFailure ? 0 : 1)
      if (isFailure) weigh('outcome_graph', decision, node('outcome', 'error'), 1)
    }
  }
  const weighed = [...edges.values()].map(({ sum, ...edge }) => ({ ...edge, weight: sum / edge.count }))
  return new GraphView(
    [...nodes.values()].map((of) => ({ ...of, graph_id: 'outcome_graph' as const })),
    weighed,
  )
}
