// What the person looks at and what a key changes of it: the rules of the screens, without a screen.
export const panes = ['roles', 'sessions', 'channels', 'denials'] as const
export type PaneName = (typeof panes)[number]

/** Sessions by state; the key of each is its place here, and 0 is all of them. */
export const sessionStates = ['PROPOSED', 'PENDING_QUORUM', 'RATIFIED', 'IN_CONFLICT', 'WITHDRAWN'] as const

const sessionStateNames: readonly string[] = sessionStates

export type AdminView = {
  readonly pane: PaneName
  /** The selected row of each pane by its key, so that rows that come and go do not move it. */
  readonly selected: Readonly<Record<PaneName, string | undefined>>
  readonly filter: string | undefined
  readonly over: 'nothing' | 'detail' | 'help'
  /** First line shown of what lies over the panes. */
  readonly scroll: number
}

/** The keys of the rows that each pane shows, from the top; a pane whose role is not here is absent. */
export type PaneRowKeys = Readonly<Partial<Record<PaneName, readonly string[]>>>

export const initialView: AdminView = {
  pane: 'sessions',
  selected: { roles: undefined, sessions: undefined, channels: undefined, denials: undefined },
  filter: undefined,
  over: 'nothing',
  scroll: 0,
}

const page_rows = 10

/**
 * The view after a key; undefined when the person leaves. A key that means nothing here changes nothing.
 * `scrollMax`: the last line that what lies over the panes can be scrolled to.
 */
export function handleKey(before: AdminView, key: string, keys: PaneRowKeys, scrollMax: number): AdminView | undefined {
  if (key === 'q') return undefined
  const shown = panes.filter((pane) => keys[pane])
  const view = { ...before, pane: selectFocus(before, shown) }
  const rows = keys[view.pane] ?? []
  if (view.over !== 'nothing') return handleOverlayKey(view, key, scrollMax)
  if (key === '?') return { ...view, over: 'help', scroll: 0 }
  const step = keySteps[key]
  if (step !== undefined) return moveSelection(view, step, rows)
  if (key === 'tab' || key === 'right') return { ...view, pane: findNextPane(view.pane, 1, shown) }
  if (key === 'backtab' || key === 'left') return { ...view, pane: findNextPane(view.pane, -1, shown) }
  if (key === 'enter') return rows.length > 0 ? { ...moveSelection(view, 0, rows), over: 'detail' } : view
  return keys.sessions ? applyFilter(view, key) : view
}

/** The pane that keys go to; the last one where the role of the chosen one is not here. */
export function selectFocus({ pane }: AdminView, shown: readonly PaneName[]): PaneName {
  return shown.includes(pane) ? pane : (shown.at(-1) ?? pane)
}

const keySteps: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -page_rows,
  pagedown: page_rows,
  home: -Infinity,
  end: Infinity,
}

/** Escape and enter go back, as does the key that opened the help. */
function handleOverlayKey(view: AdminView, key: string, scrollMax: number): AdminView {
  if (key === 'escape' || key === 'enter' || key === '?') return { ...view, over: 'nothing', scroll: 0 }
  const step = keySteps[key]
  return step === undefined ? view : { ...view, scroll: Math.max(0, Math.min(scrollMax, view.scroll + step)) }
}

function moveSelection(view: AdminView, step: number, keys: readonly string[]): AdminView {
  const at = Math.max(0, Math.min(keys.length - 1, findSelectedRow(view.selected[view.pane], keys) + step))
  return { ...view, scroll: 0, selected: { ...view.selected, [view.pane]: keys[at] } }
}

function applyFilter(view: AdminView, key: string): AdminView {
  if (key === 'f')
    return { ...view, pane: 'sessions', filter: sessionStates[sessionStateNames.indexOf(view.filter ?? '') + 1] }
  if (key === '0') return { ...view, pane: 'sessions', filter: undefined }
  const chosen = sessionStates[Number(key) - 1]
  return chosen ? { ...view, pane: 'sessions', filter: chosen } : view
}

function findNextPane(pane: PaneName, step: number, shown: readonly PaneName[]): PaneName {
  return shown[(shown.indexOf(pane) + step + shown.length) % shown.length] ?? pane
}

/** Where the selection stands: its row, or the first once that row is gone. */
export function findSelectedRow(selected: string | undefined, keys: readonly string[]): number {
  return Math.max(0, selected === undefined ? 0 : keys.indexOf(selected))
}

/** What Ink tells of a key, as names: `tab`, `up`, `q`. A burst of keys comes as one text; chords have no name. */
export function readKeyNames(input: string, key: Readonly<Record<string, unknown>>): string[] {
  if (key.ctrl || key.meta) return []
  if (key.tab) return [key.shift ? 'backtab' : 'tab']
  const named = Object.keys(inkKeyNames).find((name) => key[name])
  if (named) return [inkKeyNames[named] ?? named]
  return Array.from(input, (typed) => textKeyNames[typed] ?? typed)
}

const textKeyNames: Readonly<Record<string, string>> = { '\t': 'tab', '\r': 'enter', '\n': 'enter' }

const inkKeyNames: Readonly<Record<string, string>> = {
  upArrow: 'up',
  downArrow: 'down',
  leftArrow: 'left',
  rightArrow: 'right',
  pageUp: 'pageup',
  pageDown: 'pagedown',
  home: 'home',
  end: 'end',
  return: 'enter',
  escape: 'escape',
}
