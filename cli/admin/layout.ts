// Divides the lines and columns of a terminal among the panes, down to 80 by 24 and less.
import type { PaneColumn } from './cells.ts'
import { type PaneName, panes } from './view.ts'

/** Table rows of each pane; a pane without room is absent. */
export type PaneHeights = Readonly<Partial<Record<PaneName, number>>>

/** Title and headings of a pane. */
export const pane_overhead_rows = 2
/** Head line, foot line, and the last line of the terminal: a frame that fills it makes Ink repaint all of it. */
const screen_overhead_rows = 3
/** Most rows above the minimum. */
const max_extra_rows: Readonly<Record<PaneName, number>> = {
  ...{ roles: 9, sessions: 0, pipelines: 8, channels: 8, denials: 8 },
  ...{ guidance: 8, services: 8, tools: 8, quotas: 8, decisions: 8 },
}
const min_rows: Readonly<Record<PaneName, number>> = {
  ...{ roles: 2, sessions: 4, pipelines: 2, channels: 2, denials: 4 },
  ...{ guidance: 2, services: 2, tools: 2, quotas: 2, decisions: 2 },
}
/** The first visible pane of this list gets the rows that the others leave. */
const panePriority: readonly PaneName[] = [
  ...(['sessions', 'pipelines', 'denials', 'quotas', 'decisions'] as const),
  ...(['guidance', 'tools', 'services', 'channels', 'roles'] as const),
]

/**
 * Height of each visible pane. `lines` of the terminal; `counts`: rows of each visible pane. If the minimum of all panes
 * does not fit, the pane in focus is shown with as many of its neighbours as fit.
 */
export function computePaneHeights(
  lines: number,
  focus: PaneName,
  counts: Readonly<Partial<Record<PaneName, number>>>,
): PaneHeights {
  const rows = lines - screen_overhead_rows
  const countRows = (pane: PaneName) => counts[pane] ?? 0
  const minRows = (pane: PaneName) =>
    pane === 'roles' ? Math.min(min_rows.roles, Math.max(1, countRows(pane))) : min_rows[pane]
  const visible = selectNeighbours(
    panes.filter((pane) => counts[pane] !== undefined),
    focus,
    (pane) => minRows(pane) + pane_overhead_rows,
    rows,
  )
  const table_rows = rows - visible.length * pane_overhead_rows
  const spare_rows = visible.reduce((remaining, pane) => remaining - minRows(pane), table_rows)
  if (spare_rows < 0) return { [focus]: Math.max(1, rows - pane_overhead_rows) }
  const largest = panePriority.find((pane) => visible.includes(pane))
  const otherPanes = visible.filter((pane) => pane !== largest)
  const max_share = Math.floor(spare_rows / (otherPanes.length + 1))
  const heights = otherPanes.map((pane): [PaneName, number] => {
    const extra = Math.max(0, Math.min(max_share, max_extra_rows[pane], countRows(pane) - minRows(pane)))
    return [pane, minRows(pane) + extra]
  })
  const largestHeight = heights.reduce((remaining, [, size]) => remaining - size, table_rows)
  return Object.fromEntries([...heights, ...(largest ? [[largest, largestHeight]] : [])])
}

/** The pane in focus, and the next ones before and after it in turn, as long as they fit. */
function selectNeighbours(
  candidates: readonly PaneName[],
  focus: PaneName,
  heightOf: (pane: PaneName) => number,
  rows: number,
): readonly PaneName[] {
  const at = candidates.indexOf(focus)
  const nearest = candidates.toSorted((one, other) => distance(one) - distance(other))
  const selected = new Set<PaneName>()
  let height = 0
  for (const pane of nearest) {
    height += heightOf(pane)
    if (height > rows) break
    selected.add(pane)
  }
  return candidates.filter((pane) => selected.has(pane) || pane === focus)

  /** A neighbour after the focus comes before the one on its other side. */
  function distance(pane: PaneName): number {
    const steps = candidates.indexOf(pane) - at
    return Math.abs(steps) * 2 - (steps > 0 ? 1 : 0)
  }
}

/** First visible row of a window of `height` rows that contains the selected row. */
export function computeFirstRow(selected: number, height: number, count: number): number {
  return Math.max(0, Math.min(selected - Math.floor(height / 2), count - height))
}

/** Width of each column in `columns` characters. Growing columns share the rest; they shrink if there is too little. */
export function computeColumnWidths(paneColumns: readonly PaneColumn[], columns: number): number[] {
  const gaps = Math.max(0, paneColumns.length - 1) * 2
  const fixed = paneColumns.reduce((sum, { width }) => sum + width, 0)
  const spare_chars = columns - gaps - fixed
  const growing_count = paneColumns.filter(({ grows }) => grows).length
  return paneColumns.map(({ width, grows }) =>
    grows ? Math.max(4, width + Math.floor(spare_chars / Math.max(1, growing_count))) : width,
  )
}

/** Wraps text into lines of at most `columns` characters; a longer word is cut. Keeps indents. */
export function wrapText(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = []
    const indent = /^ */.exec(line)?.[0] ?? ''
    let remaining = line
    while (remaining.length > columns) {
      const space = remaining.lastIndexOf(' ', columns)
      const cut = space > indent.length ? space : columns
      lines.push(remaining.slice(0, cut))
      remaining = indent + remaining.slice(cut).trimStart()
    }
    return [...lines, remaining]
  })
}
