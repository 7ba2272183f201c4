// Ids of nodes and edges for one batch: each digest is computed once, since most events of a batch concern the same ones.
import type { GraphId } from './model.ts'
import { edgeId, type GraphScope, type NodeKind, nodeId, scopeKey } from './rules.ts'

export class GraphIds {
  readonly #nodes = new Map<string, string>()
  readonly #edges = new Map<string, Map<string, string>>()
  /** All nodes and edges of one event have the same scope. */
  #scope: GraphScope | undefined
  #scopeKey = ''

  node(scope: GraphScope, graph_id: GraphId, kind: NodeKind, node_label: string): string {
    if (scope !== this.#scope) {
      this.#scope = scope
      this.#scopeKey = scopeKey(scope)
    }
    // The label comes last: it alone may have a blank in it, besides the key of the scope, which is JSON.
    const key = `${this.#scopeKey} ${graph_id} ${kind} ${node_label}`
    const known = this.#nodes.get(key)
    if (known !== undefined) return known
    const id = nodeId(scope, graph_id, kind, node_label)
    this.#nodes.set(key, id)
    return id
  }

  edge(source_id: string, target_id: string): string {
    const ofSource = this.#edges.get(source_id) ?? new Map<string, string>()
    this.#edges.set(source_id, ofSource)
    const known = ofSource.get(target_id)
    if (known !== undefined) return known
    const id = edgeId(source_id, target_id)
    ofSource.set(target_id, id)
    return id
  }
}
