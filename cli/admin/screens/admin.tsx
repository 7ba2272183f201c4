// The one screen: roles, sessions, channels and denials as they change, and what the keys lay over them.
import { Box, useApp, useInput, useWindowSize } from 'ink'
import { useRef, useState } from 'react'
import { type DetailLine, detailOf } from '../detail.ts'
import { helpLines } from '../help.ts'
import type { Look, Source } from '../look.ts'
import { Colours, Tinted } from '../parts/tinted.tsx'
import { keyOf } from '../tables.ts'
import { useExplanation, useLook } from '../use-look.ts'
import { firstView, type Keys, keyNames, panes, pressed, type View } from '../view.ts'
import { Over } from './over.tsx'
import { Overview } from './overview.tsx'

type Props = { readonly source: Source; readonly hasColour: boolean }

export function Admin({ source, hasColour }: Props) {
  const { exit } = useApp()
  const { columns, rows: lines } = useWindowSize()
  const [view, setView] = useState<View>(firstView)
  const seen = useLook(source, view.filter)
  const over = useOver(source, view, seen, columns)
  // The head line, the foot line, and one that stays free.
  const height = Math.max(1, lines - 3)
  // Keys may come faster than renders: each has to find what the one before it left.
  const now = useRef(view)
  useInput((input, key) => {
    const scrollMax = Math.max(0, (over?.length ?? 0) - height)
    for (const name of keyNames(input, key)) {
      const next = pressed(now.current, name, keysOf(seen), scrollMax)
      if (next === undefined) return exit()
      now.current = next
    }
    setView(now.current)
  })
  return (
    <Colours.Provider value={hasColour}>
      <Box flexDirection="column" width={columns} height={height + 2}>
        <Tinted text={`platform admin  ${source.place}${seen ? '' : '  looking ...'}`} isBold />
        {over === undefined && <Overview view={view} seen={seen} columns={columns} lines={lines} />}
        {over !== undefined && <Over lines={over} scroll={view.scroll} height={height} />}
        <Tinted text={view.over === 'nothing' ? keysBelow : keysOver} tone="faint" />
      </Box>
    </Colours.Provider>
  )
}

const keysBelow = 'tab pane  j/k row  enter details  0-5 or f sessions by state  ? help  q quit'
const keysOver = 'j/k scroll  esc back  q quit'

/** The lines that lie over the panes; undefined when none do. */
function useOver(source: Source, view: View, seen: Look | undefined, columns: number) {
  const item = view.over === 'detail' ? selectedItem(view, seen) : undefined
  const dissent = item?.open_dissent_id === undefined ? undefined : String(item.open_dissent_id)
  const prose = useExplanation(source, dissent)
  if (view.over === 'nothing') return undefined
  if (view.over === 'help') return helpLines
  return item ? detailOf(view.pane, item, prose, columns) : gone
}

const gone: readonly DetailLine[] = [{ label: '', text: 'not listed any more; esc goes back', tone: 'warn' }]

function selectedItem({ pane, selected }: View, seen: Look | undefined) {
  return seen?.[pane]?.items.find((item) => keyOf(pane, item) === selected[pane])
}

function keysOf(seen: Look | undefined): Keys {
  const shown = panes.flatMap((pane) => {
    const found = seen?.[pane]
    return found ? [[pane, found.items.map((item) => keyOf(pane, item))] as const] : []
  })
  return Object.fromEntries(shown)
}
