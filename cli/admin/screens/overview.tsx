// The visible panes, each as high as the terminal allows.
import { Box } from 'ink'
import type { AdminSnapshot, PaneContent } from '../admin-snapshot.ts'
import { computePaneHeights } from '../layout.ts'
import { paneCommands } from '../pane-commands.ts'
import { Pane } from '../parts/pane.tsx'
import { buildPaneTable, buildRowKey } from '../tables.ts'
import { type AdminView, findSelectedRow, type PaneName, panes, selectFocus } from '../view.ts'

type OverviewProps = {
  readonly view: AdminView
  readonly snapshot: AdminSnapshot | undefined
  readonly columns: number
  readonly lines: number
}

const emptyPaneTexts: Readonly<Record<PaneName, string>> = {
  roles: 'the profile runs no roles',
  sessions: 'no such sessions',
  pipelines: 'no pipelines: `platform ingest deploy FILE`',
  channels: 'no peer is pinned: `platform peers add NAME --keys FILE --tenant TENANT --ceiling LEVEL`',
  denials: 'no denied requests',
  guidance: 'no guidance',
  services: 'no service has registered',
  tools: 'no tool of a registered service has been accepted: `platform gateway review NAME`',
  quotas: 'no calls within a day',
  decisions: 'no call that a guardrail refused',
}

export function Overview({ view, snapshot, columns, lines }: OverviewProps) {
  const visible = panes.filter((pane) => snapshot?.[pane])
  const focus = selectFocus(view, visible)
  const heights = computePaneHeights(
    lines,
    focus,
    Object.fromEntries(visible.map((pane) => [pane, snapshot?.[pane]?.items.length ?? 0])),
  )
  return (
    <Box flexDirection="column" flexGrow={1}>
      {visible.map((pane) => {
        const height = heights[pane]
        if (height === undefined) return null
        const { items, fault, range, total } = snapshot?.[pane] ?? emptyPane
        const keys = items.map((item) => buildRowKey(pane, item))
        return (
          <Pane
            key={pane}
            title={formatPaneTitle(pane, view, range)}
            command={paneCommands[pane]}
            table={buildPaneTable(pane, items, columns)}
            total={total}
            fault={fault}
            emptyText={emptyPaneTexts[pane]}
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

const emptyPane: PaneContent = { items: [] }

function formatPaneTitle(pane: PaneName, { filter }: AdminView, range: string | undefined): string {
  if (pane === 'sessions') return `SESSIONS ${filter ?? 'all'}`
  return range === undefined ? pane.toUpperCase() : `${pane.toUpperCase()} of ${range}`
}
