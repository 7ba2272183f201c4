// The three panes, each as high as there is room for it.
import { Box } from 'ink'
import { heights } from '../layout.ts'
import type { Look } from '../look.ts'
import { Pane } from '../parts/pane.tsx'
import { keyOf, tableOf } from '../tables.ts'
import { panes, selectedAt, type View } from '../view.ts'

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
}

export function Overview({ view, seen, columns, lines }: Props) {
  const counts = {
    roles: seen?.roles.items.length ?? 0,
    sessions: seen?.sessions.items.length ?? 0,
    channels: seen?.channels.items.length ?? 0,
  }
  const rooms = heights(lines, view.pane, counts)
  return (
    <Box flexDirection="column" flexGrow={1}>
      {panes.map((pane) => {
        const height = rooms[pane]
        if (height === undefined) return null
        const { items, fault } = seen?.[pane] ?? { items: [], fault: undefined }
        const keys = items.map((item) => keyOf(pane, item))
        return (
          <Pane
            key={pane}
            title={pane === 'sessions' ? `SESSIONS ${view.filter ?? 'all'}` : pane.toUpperCase()}
            table={tableOf(pane, items, columns)}
            fault={fault}
            none={seen ? nothing[pane] : '...'}
            selected={selectedAt(view.selected[pane], keys)}
            isFocused={view.pane === pane}
            height={height}
            columns={columns}
          />
        )
      })}
    </Box>
  )
}
