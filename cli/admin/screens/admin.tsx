// The screen: roles, sessions, pipelines, channels, denials and what a gateway does, as they change, and the overlays that keys open.
import { Box, useApp, useInput, useWindowSize } from 'ink'
import { useRef, useState } from 'react'
import { type AdminSnapshot, type AdminSource, findExplainingObject } from '../admin-snapshot.ts'
import { buildDetail, type DetailLine } from '../detail.ts'
import { helpLines } from '../help.ts'
import { ColourContext, ToneText } from '../parts/tone-text.tsx'
import { buildRowKey } from '../tables.ts'
import { useAdminSnapshot, useExplanation } from '../use-admin-snapshot.ts'
import { type AdminView, handleKey, initialView, type PaneRowKeys, panes, readKeyNames } from '../view.ts'
import { Overlay } from './overlay.tsx'
import { Overview } from './overview.tsx'

type AdminProps = { readonly source: AdminSource; readonly hasColour: boolean }

export function Admin({ source, hasColour }: AdminProps) {
  const { exit } = useApp()
  const { columns, rows: lines } = useWindowSize()
  const [view, setView] = useState<AdminView>(initialView)
  const snapshot = useAdminSnapshot(source, view.filter)
  const overlay = useOverlayLines(source, view, snapshot, columns)
  // The head line, the foot line, and one that stays free.
  const height = Math.max(1, lines - 3)
  // Keys may arrive faster than renders: each must see the view that the previous one left.
  const currentView = useRef(view)
  useInput((input, key) => {
    const scrollMax = Math.max(0, (overlay?.length ?? 0) - height)
    for (const name of readKeyNames(input, key)) {
      const nextView = handleKey(currentView.current, name, listRowKeys(snapshot), scrollMax)
      if (nextView === undefined) return exit()
      currentView.current = nextView
    }
    setView(currentView.current)
  })
  return (
    <ColourContext.Provider value={hasColour}>
      <Box flexDirection="column" width={columns} height={height + 2}>
        <ToneText text={`platform admin  ${source.siteName}${snapshot ? '' : '  loading ...'}`} isBold />
        {overlay === undefined && <Overview view={view} snapshot={snapshot} columns={columns} lines={lines} />}
        {overlay !== undefined && <Overlay lines={overlay} scroll={view.scroll} height={height} />}
        <ToneText text={view.overlay === 'nothing' ? pane_key_hints : overlay_key_hints} tone="faint" />
      </Box>
    </ColourContext.Provider>
  )
}

const pane_key_hints = 'tab pane  j/k row  enter details  0-6 or f filters sessions  ? help  q quit'
const overlay_key_hints = 'j/k scroll  esc back  q quit'

/** Lines of the open overlay; undefined if no overlay is open. */
function useOverlayLines(source: AdminSource, view: AdminView, snapshot: AdminSnapshot | undefined, columns: number) {
  const item = view.overlay === 'detail' ? findSelectedItem(view, snapshot) : undefined
  const prose = useExplanation(source, item && findExplainingObject(view.pane, item))
  if (view.overlay === 'nothing') return undefined
  if (view.overlay === 'help') return helpLines
  return item ? buildDetail(view.pane, item, prose, columns) : missingRowLines
}

const missingRowLines: readonly DetailLine[] = [{ label: '', text: 'no longer listed; esc goes back', tone: 'warn' }]

function findSelectedItem({ pane, selected }: AdminView, snapshot: AdminSnapshot | undefined) {
  return snapshot?.[pane]?.items.find((item) => buildRowKey(pane, item) === selected[pane])
}

function listRowKeys(snapshot: AdminSnapshot | undefined): PaneRowKeys {
  const paneKeys = panes.flatMap((pane) => {
    const content = snapshot?.[pane]
    return content ? [[pane, content.items.map((item) => buildRowKey(pane, item))] as const] : []
  })
  return Object.fromEntries(paneKeys)
}
