// How the lines and columns of a terminal are shared out, down to 80 by 24 and less.
import type { PaneColumn } from './tables.ts'
import { type PaneName, panes } from './view.ts'

/** Rows of a table that each pane shows; a pane that is absent has no room. */
export type PaneHeights = Readonly<Partial<Record<PaneName, number>>>

/** Title and headings of a pane. */
export const pane_overhead_rows = 2
/** Head line, foot line, and the last line of the terminal: a frame that fills it makes Ink repaint all of it. */
const screen_overhead_rows = 3
/** More than the least, at most. */
const max_extra_rows: Readonly<Record<PaneName, number>> = { roles: 9, sessions: 0, channels: 8, denials: 8 }
const min_rows: Readonly<Record<PaneName, number>> = { roles: 2, sessions: 4, channels: 2, denials: 4 }
/** The first of these that is here gets what the others leave. */
const panePriority: readonly PaneName[] = ['sessions', 'denials', 'channels', 'roles']

/**
 * `lines` of the terminal, `counts` of rows that there are in each pane that is here. Where there is no room for the least
 * of each, only the pane in focus is shown.
 */
export function computePaneHeights(
  lines: number,
  focus: PaneName,
  counts: Readonly<Partial<Record<PaneName, number>>>,
): PaneHeights {
  const room = lines - screen_overhead_rows
  const shown = panes.filter((pane) => counts[pane] !== undefined)
  const count = (pane: PaneName) => counts[pane] ?? 0
  const least = (pane: PaneName) =>
    pane === 'roles' ? Math.min(min_rows.roles, Math.max(1, count(pane))) : min_rows[pane]
  const forRows = room - shown.length * pane_overhead_rows
  const spare = shown.reduce((left, pane) => left - least(pane), forRows)
  if (spare < 0) return { [focus]: Math.max(1, room - pane_overhead_rows) }
  const most = panePriority.find((pane) => shown.includes(pane))
  const others = shown.filter((pane) => pane !== most)
  const share = Math.floor(spare / (others.length + 1))
  const sizes = others.map((pane): [PaneName, number] => {
    const more = Math.max(0, Math.min(share, max_extra_rows[pane], count(pane) - least(pane)))
    return [pane, least(pane) + more]
  })
  const rest = sizes.reduce((left, [, size]) => left - size, forRows)
  return Object.fromEntries([...sizes, ...(most ? [[most, rest]] : [])])
}

/** The first row to show so that the selected one is seen, in a window of `height` rows. */
export function computeFirstRow(selected: number, height: number, count: number): number {
  return Math.max(0, Math.min(selected - Math.floor(height / 2), count - height))
}

/** Width of each column in `columns`; those that grow share what is left, and all shrink in turn when it is too little. */
export function computeColumnWidths(of: readonly PaneColumn[], columns: number): number[] {
  const gaps = Math.max(0, of.length - 1) * 2
  const fixed = of.reduce((sum, { width }) => sum + width, 0)
  const left = columns - gaps - fixed
  const growing = of.filter(({ grows }) => grows).length
  return of.map(({ width, grows }) => (grows ? Math.max(4, width + Math.floor(left / Math.max(1, growing))) : width))
}

/** Words into lines of at most `columns` characters; a longer word is cut. Indents are kept. */
export function wrapText(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = []
    const indent = /^ */.exec(line)?.[0] ?? ''
    let rest = line
    while (rest.length > columns) {
      const space = rest.lastIndexOf(' ', columns)
      const at = space > indent.length ? space : columns
      lines.push(rest.slice(0, at))
      rest = indent + rest.slice(at).trimStart()
    }
    return [...lines, rest]
  })
}
