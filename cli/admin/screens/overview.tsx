// The panes of the roles that are here, each as high as there is room for it.
import { Box } from 'ink'
import type { AdminSnapshot } from '../admin-snapshot.ts'
import { computePaneHeights } from '../layout.ts'
import { Pane } from '../parts/pane.tsx'
import { buildPaneTable, buildRowKey } from '../tables.ts'
import { type AdminView, findSelectedRow, type PaneName, panes, selectFocus } from '../view.ts'

type OverviewProps = {
  readonly view: AdminView
  readonly seen: AdminSnapshot | undefined
  readonly columns: number
  readonly lines: number
}

const emptyPaneTexts = {
  roles: 'the profile runs no roles',
  sessions: 'there are no such sessions',
  channels: 'no peer is pinned: `platform peers add`',
  denials: 'nothing was denied',
}

export function Overview({ view, seen, columns, lines }: OverviewProps) {
  const shown = panes.filter((pane) => seen?.[pane])
  const focus = selectFocus(view, shown)
  const rooms = computePaneHeights(
    lines,
    focus,
    Object.fromEntries(shown.map((pane) => [pane, seen?.[pane]?.items.length ?? 0])),
  )
  return (
    <Box flexDirection="column" flexGrow={1}>
      {shown.map((pane) => {
        const height = rooms[pane]
        if (height === undefined) return null
        const { items, fault, of } = seen?.[pane] ?? { items: [] }
        const keys = items.map((item) => buildRowKey(pane, item))
        return (
          <Pane
            key={pane}
            title={formatPaneTitle(pane, view, of)}
            table={buildPaneTable(pane, items, columns)}
            fault={fault}
            none={emptyPaneTexts[pane]}
            selected={findSelectedRow(view.selected[pane], keys)}
            isFocused={focus === pane}
            height={height}
            columns={columns}
          />
        )
      })}
    </Box>
  )
}

function formatPaneTitle(pane: PaneName, { filter }: AdminView, of: string | undefined): string {
  if (pane === 'sessions') return `SESSIONS ${filter ?? 'all'}`
  return of === undefined ? pane.toUpperCase() : `${pane.toUpperCase()} of ${of}`
}
