// The panes of the roles that are here, each as high as there is room for it.
import { Box } from 'ink'
import { heights } from '../layout.ts'
import type { Look } from '../look.ts'
import { Pane } from '../parts/pane.tsx'
import { keyOf, tableOf } from '../tables.ts'
import { focusOf, type Pane as PaneName, panes, selectedAt, type View } from '../view.ts'

type Props = {
  readonly view: View
  readonly seen: Look | undefined
  readonly columns: number
  readonly lines: number
}

const nothing = {
  roles: 'the profile runs no roles',
  sessions: 'there are no such sessions',
  channels: 'no peer is pinned: `platform peers add`',
  denials: 'nothing was denied',
}

export function Overview({ view, seen, columns, lines }: Props) {
  const shown = panes.filter((pane) => seen?.[pane])
  const focus = focusOf(view, shown)
  const rooms = heights(lines, focus, Object.fromEntries(shown.map((pane) => [pane, seen?.[pane]?.items.length ?? 0])))
  return (
    <Box flexDirection="column" flexGrow={1}>
      {shown.map((pane) => {
        const height = rooms[pane]
        if (height === undefined) return null
        const { items, fault, of } = seen?.[pane] ?? { items: [] }
        const keys = items.map((item) => keyOf(pane, item))
        return (
          <Pane
            key={pane}
            title={titleOf(pane, view, of)}
            table={tableOf(pane, items, columns)}
            fault={fault}
            none={nothing[pane]}
            selected={selectedAt(view.selected[pane], keys)}
            isFocused={focus === pane}
            height={height}
            columns={columns}
          />
        )
      })}
    </Box>
  )
}

function titleOf(pane: PaneName, { filter }: View, of: string | undefined): string {
  if (pane === 'sessions') return `SESSIONS ${filter ?? 'all'}`
  return of === undefined ? pane.toUpperCase() : `${pane.toUpperCase()} of ${of}`
}
