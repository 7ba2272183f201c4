// The one screen: roles, sessions, channels and denials as they change, and what the keys lay over them.
import { Box, useApp, useInput, useWindowSize } from 'ink'
import { useRef, useState } from 'react'
import type { AdminSnapshot, AdminSource } from '../admin-snapshot.ts'
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
  const seen = useAdminSnapshot(source, view.filter)
  const over = useOverlayLines(source, view, seen, columns)
  // The head line, the foot line, and one that stays free.
  const height = Math.max(1, lines - 3)
  // Keys may come faster than renders: each has to find what the one before it left.
  const now = useRef(view)
  useInput((input, key) => {
    const scrollMax = Math.max(0, (over?.length ?? 0) - height)
    for (const name of readKeyNames(input, key)) {
      const next = handleKey(now.current, name, listRowKeys(seen), scrollMax)
      if (next === undefined) return exit()
      now.current = next
    }
    setView(now.current)
  })
  return (
    <ColourContext.Provider value={hasColour}>
      <Box flexDirection="column" width={columns} height={height + 2}>
        <ToneText text={`platform admin  ${source.place}${seen ? '' : '  looking ...'}`} isBold />
        {over === undefined && <Overview view={view} seen={seen} columns={columns} lines={lines} />}
        {over !== undefined && <Overlay lines={over} scroll={view.scroll} height={height} />}
        <ToneText text={view.over === 'nothing' ? pane_key_hints : overlay_key_hints} tone="faint" />
      </Box>
    </ColourContext.Provider>
  )
}

const pane_key_hints = 'tab pane  j/k row  enter details  0-5 or f sessions by state  ? help  q quit'
const overlay_key_hints = 'j/k scroll  esc back  q quit'

/** The lines that lie over the panes; undefined when none do. */
function useOverlayLines(source: AdminSource, view: AdminView, seen: AdminSnapshot | undefined, columns: number) {
  const item = view.over === 'detail' ? findSelectedItem(view, seen) : undefined
  const dissent = item?.open_dissent_id === undefined ? undefined : String(item.open_dissent_id)
  const prose = useExplanation(source, dissent)
  if (view.over === 'nothing') return undefined
  if (view.over === 'help') return helpLines
  return item ? buildDetail(view.pane, item, prose, columns) : missingRowLines
}

const missingRowLines: readonly DetailLine[] = [{ label: '', text: 'not listed any more; esc goes back', tone: 'warn' }]

function findSelectedItem({ pane, selected }: AdminView, seen: AdminSnapshot | undefined) {
  return seen?.[pane]?.items.find((item) => buildRowKey(pane, item) === selected[pane])
}

function listRowKeys(seen: AdminSnapshot | undefined): PaneRowKeys {
  const shown = panes.flatMap((pane) => {
    const found = seen?.[pane]
    return found ? [[pane, found.items.map((item) => buildRowKey(pane, item))] as const] : []
  })
  return Object.fromEntries(shown)
}
