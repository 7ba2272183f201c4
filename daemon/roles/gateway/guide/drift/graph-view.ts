// The graphs of one tenant and label as the check for drift reads them: intents by their class, and edges by the labels of their ends.
import type { GraphEdge, GraphId, GraphNode } from '../graph/model.ts'

export type ViewedEdge = Pick<GraphEdge, 'graph_id' | 'count' | 'weight' | 'recent_weight' | 'long_weight'> & {
  readonly source: string
  readonly target: string
}

type ViewedNode = Pick<GraphNode, 'graph_id' | 'kind' | 'node_label'> & { readonly id: string }
type StoredEdge = Omit<ViewedEdge, 'source' | 'target'> & Pick<GraphEdge, 'source_id' | 'target_id'>

export class GraphView {
  readonly #intents = new Set<string>()
  /** By graph and source. */
  readonly #edges = new Map<string, ViewedEdge[]>()

  constructor(nodes: Iterable<ViewedNode>, edges: Iterable<StoredEdge>) {
    const labels = new Map<string, string>()
    for (const { id, kind, node_label } of nodes) {
      const label = kind === 'intent' ? bareClass(node_label) : node_label
      labels.set(id, label)
      if (kind === 'intent') this.#intents.add(label)
    }
    for (const { source_id, target_id, graph_id, count, weight, recent_weight, long_weight } of edges) {
      const source = labels.get(source_id)
      const target = labels.get(target_id)
      if (source === undefined || target === undefined) continue
      const edge = { graph_id, source, target, count, weight, recent_weight, long_weight }
      const key = `${graph_id} ${source}`
      const known = this.#edges.get(key)
      if (known) known.push(edge)
      else this.#edges.set(key, [edge])
    }
  }

  knowsIntent(intent_class: string): boolean {
    return this.#intents.has(bareClass(intent_class))
  }

  listEdges(graph_id: GraphId, source: string): readonly ViewedEdge[] {
    return this.#edges.get(`${graph_id} ${source}`) ?? []
  }

  *everyEdge(): Generator<ViewedEdge> {
    for (const edges of this.#edges.values()) yield* edges
  }
}

/** Labels of intents are prefixed by the service that emitted them; artifacts name the class. */
export function bareClass(label: string): string {
  return label.slice(label.indexOf('/') + 1)
}
