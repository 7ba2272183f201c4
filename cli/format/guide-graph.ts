// Formats a decision graph as two tables: of its nodes, and of the edges between them.
import type { ApiObject } from '../client/client.ts'
import { formatTable, line_break, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const nodeColumns = ['kind', 'label', 'occurrences', 'last_seen_at']
const edgeColumns = ['from', 'to', 'weight', 'recent_weight', 'long_weight', 'count', 'last_seen_at']

/** A node that is not among the shown ones has its id in place of its label. */
export function formatGraph(terminal: Terminal, content: ApiObject): string {
  const { nodes, edges, snapshot } = content as {
    readonly nodes: readonly OutputRow[]
    readonly edges: readonly OutputRow[]
    readonly snapshot?: OutputRow
  }
  const labels = new Map(nodes.map(({ node_id, label }) => [node_id, label]))
  const rows = edges.map((edge) => ({
    ...edge,
    from: labels.get(edge.source_id) ?? edge.source_id,
    to: labels.get(edge.target_id) ?? edge.target_id,
  }))
  return [
    ...(snapshot ? [`snapshot ${snapshot.snapshot_id} of ${snapshot.taken_at}`, ''] : []),
    formatTable(terminal, nodes, nodeColumns, 'the graph has no nodes'),
    ...(rows.length === 0 ? [] : ['', formatTable(terminal, rows, edgeColumns, '')]),
  ].join(line_break)
}
