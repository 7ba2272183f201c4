// The one screen: roles, sessions and channels as they change, and what the keys lay over them.
import { Box, useApp, useInput, useWindowSize } from 'ink'
import { useRef, useState } from 'react'
import type { Look, Source } from '../look.ts'
import { Colours, Tinted } from '../parts/tinted.tsx'
import { keyOf } from '../tables.ts'
import { useExplanation, useLook } from '../use-look.ts'
import { firstView, type Keys, keyName, pressed, type View } from '../view.ts'
import { Detail } from './detail.tsx'
import { Help } from './help.tsx'
import { Overview } from './overview.tsx'

type Props = { readonly source: Source; readonly hasColour: boolean }

export function Admin({ source, hasColour }: Props) {
  const { exit } = useApp()
  const { columns, rows: lines } = useWindowSize()
  const [view, setView] = useState<View>(firstView)
  const seen = useLook(source, view.filter)
  // Keys may come faster than renders: each has to find what the one before it left.
  const now = useRef(view)
  useInput((input, key) => {
    const name = keyName(input, key)
    const next = name === undefined ? now.current : pressed(now.current, name, keysOf(seen))
    if (next === undefined) return exit()
    now.current = next
    setView(next)
  })
  return (
    <Colours.Provider value={hasColour}>
      <Box flexDirection="column" width={columns} height={lines - 1}>
        <Tinted text={`platform admin  ${source.place}${seen ? '' : '  looking ...'}`} isBold />
        <Body source={source} view={view} seen={seen} columns={columns} lines={lines} />
        <Tinted text={footOf(view)} tone="faint" />
      </Box>
    </Colours.Provider>
  )
}

type BodyProps = {
  readonly source: Source
  readonly view: View
  readonly seen: Look | undefined
  readonly columns: number
  readonly lines: number
}

function Body({ source, view, seen, columns, lines }: BodyProps) {
  const item = view.over === 'detail' ? selectedItem(view, seen) : undefined
  const dissent = item?.open_dissent_id === undefined ? undefined : String(item.open_dissent_id)
  const prose = useExplanation(source, dissent)
  if (view.over === 'help') return <Help scroll={view.scroll} height={lines - 3} />
  if (view.over === 'nothing') return <Overview view={view} seen={seen} columns={columns} lines={lines} />
  return <Detail view={view} item={item} prose={prose} columns={columns} height={lines - 3} />
}

function selectedItem({ pane, selected }: View, seen: Look | undefined) {
  return seen?.[pane].items.find((item) => keyOf(pane, item) === selected[pane])
}

function keysOf(seen: Look | undefined): Keys {
  const of = (pane: keyof Keys) => (seen?.[pane].items ?? []).map((item) => keyOf(pane, item))
  return { roles: of('roles'), sessions: of('sessions'), channels: of('channels') }
}

function footOf({ over }: View): string {
  if (over === 'nothing') return 'tab pane  j/k row  enter details  0-5 or f sessions by state  ? help  q quit'
  return 'j/k scroll  esc back  q quit'
}
