// How the lines and columns of a terminal are shared out, down to 80 by 24 and less.
import type { Column } from './tables.ts'
import { type Pane, panes } from './view.ts'

/** Rows of a table that each pane shows; a pane that is absent has no room. */
export type Heights = Readonly<Partial<Record<Pane, number>>>

/** Title and headings of a pane. */
export const paneOverhead = 2
/** Head line, foot line, and the last line of the terminal: a frame that fills it makes Ink repaint all of it. */
const screenOverhead = 3
const mostRows = { roles: 9, channels: 8 }

/**
 * `lines` of the terminal, `counts` of rows that there are. Sessions get what the others leave, four rows at the
 * least; where there is no room for that, only the pane in focus is shown.
 */
export function heights(lines: number, focus: Pane, counts: Readonly<Record<Pane, number>>): Heights {
  const room = lines - screenOverhead
  const forRows = room - panes.length * paneOverhead
  const least = { roles: Math.min(2, Math.max(1, counts.roles)), sessions: 4, channels: 2 }
  const spare = forRows - least.roles - least.sessions - least.channels
  if (spare < 0) return { [focus]: Math.max(1, room - paneOverhead) }
  const more = (pane: 'roles' | 'channels') =>
    Math.max(0, Math.min(Math.floor(spare / 3), mostRows[pane], counts[pane] - least[pane]))
  const roles = least.roles + more('roles')
  const channels = least.channels + more('channels')
  return { roles, channels, sessions: forRows - roles - channels }
}

/** The first row to show so that the selected one is seen, in a window of `height` rows. */
export function firstShown(selected: number, height: number, count: number): number {
  return Math.max(0, Math.min(selected - Math.floor(height / 2), count - height))
}

/** Width of each column in `columns`; those that grow share what is left, and all shrink in turn when it is too little. */
export function widths(of: readonly Column[], columns: number): number[] {
  const gaps = Math.max(0, of.length - 1) * 2
  const fixed = of.reduce((sum, { width }) => sum + width, 0)
  const left = columns - gaps - fixed
  const growing = of.filter(({ grows }) => grows).length
  return of.map(({ width, grows }) => (grows ? Math.max(4, width + Math.floor(left / Math.max(1, growing))) : width))
}

/** Words into lines of at most `columns` characters; a longer word is cut. Indents are kept. */
export function wrapped(text: string, columns: number): string[] {
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
