// Takes the graphs of one tenant and label out of those of the process.
import type { GraphBook } from '../graph/graph-book.ts'
import { type GraphScope, scopeKey } from '../graph/rules.ts'
import { GraphView } from './graph-view.ts'

/** Each `yield` lets other work go on: a process may have a hundred thousand nodes. */
export function* viewGraph(
  book: Pick<GraphBook, 'nodes' | 'edges'>,
  scope: GraphScope,
): Generator<undefined, GraphView> {
  const key = scopeKey(scope)
  const nodes = []
  for (const { id, value } of book.nodes.values()) {
    if (scopeKey(value) === key) nodes.push({ ...value, id })
    yield
  }
  const edges = []
  for (const { value } of book.edges.values()) {
    if (scopeKey(value) === key) edges.push(value)
    yield
  }
  return new GraphView(nodes, edges)
}
