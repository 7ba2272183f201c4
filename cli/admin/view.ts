// Rules of the screens, without a screen: the view, and its change by a key.
export const panes = [
  ...(['roles', 'sessions', 'pipelines', 'channels', 'denials'] as const),
  ...(['guidance', 'services', 'tools', 'quotas', 'decisions'] as const),
] as const
export type PaneName = (typeof panes)[number]

/** States to filter sessions by. */
const sessionStates = ['PROPOSED', 'PENDING_QUORUM', 'RATIFIED', 'IN_CONFLICT', 'WITHDRAWN'] as const

/** Sessions that await a contributor for whom the person may submit. */
export const awaiting_filter = 'AWAITING ME'

/** The key of a filter is its 1-based position; 0 selects all sessions. */
export const sessionFilters: readonly string[] = [...sessionStates, awaiting_filter]

export type AdminView = {
  readonly pane: PaneName
  /** Selected row of each pane by its key, so that the selection stays when rows appear or disappear. */
  readonly selected: Readonly<Record<PaneName, string | undefined>>
  readonly filter: string | undefined
  readonly overlay: 'nothing' | 'detail' | 'help'
  /** First visible line of the overlay. */
  readonly scroll: number
}

/** Row keys of each pane, from the top; a pane whose role this site does not run is absent. */
export type PaneRowKeys = Readonly<Partial<Record<PaneName, readonly string[]>>>

export const initialView: AdminView = {
  pane: 'sessions',
  selected: {
    ...{ roles: undefined, sessions: undefined, pipelines: undefined },
    ...{ channels: undefined, denials: undefined, guidance: undefined, services: undefined },
    ...{ tools: undefined, quotas: undefined, decisions: undefined },
  },
  filter: undefined,
  overlay: 'nothing',
  scroll: 0,
}

const page_rows = 10

/**
 * The view after a key; undefined if the key quits. An unknown key changes nothing.
 * `scrollMax`: the largest scroll position of the overlay.
 */
export function handleKey(
  previous: AdminView,
  key: string,
  keys: PaneRowKeys,
  scrollMax: number,
): AdminView | undefined {
  if (key === 'q') return undefined
  const visible = panes.filter((pane) => keys[pane])
  const view = { ...previous, pane: selectFocus(previous, visible) }
  const rows = keys[view.pane] ?? []
  if (view.overlay !== 'nothing') return handleOverlayKey(view, key, scrollMax)
  if (key === '?') return { ...view, overlay: 'help', scroll: 0 }
  const step = keySteps[key]
  if (step !== undefined) return moveSelection(view, step, rows)
  if (key === 'tab' || key === 'right') return { ...view, pane: findNextPane(view.pane, 1, visible) }
  if (key === 'backtab' || key === 'left') return { ...view, pane: findNextPane(view.pane, -1, visible) }
  if (key === 'enter') return rows.length > 0 ? { ...moveSelection(view, 0, rows), overlay: 'detail' } : view
  return keys.sessions ? applyFilter(view, key) : view
}

/** The pane in focus; the last visible one if the chosen pane is not visible. */
export function selectFocus({ pane }: AdminView, visible: readonly PaneName[]): PaneName {
  return visible.includes(pane) ? pane : (visible.at(-1) ?? pane)
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
  if (key === 'escape' || key === 'enter' || key === '?') return { ...view, overlay: 'nothing', scroll: 0 }
  const step = keySteps[key]
  return step === undefined ? view : { ...view, scroll: Math.max(0, Math.min(scrollMax, view.scroll + step)) }
}

function moveSelection(view: AdminView, step: number, keys: readonly string[]): AdminView {
  const row = Math.max(0, Math.min(keys.length - 1, findSelectedRow(view.selected[view.pane], keys) + step))
  return { ...view, scroll: 0, selected: { ...view.selected, [view.pane]: keys[row] } }
}

function applyFilter(view: AdminView, key: string): AdminView {
  if (key === 'f')
    return { ...view, pane: 'sessions', filter: sessionFilters[sessionFilters.indexOf(view.filter ?? '') + 1] }
  if (key === '0') return { ...view, pane: 'sessions', filter: undefined }
  const filter = sessionFilters[Number(key) - 1]
  return filter ? { ...view, pane: 'sessions', filter } : view
}

function findNextPane(pane: PaneName, step: number, visible: readonly PaneName[]): PaneName {
  return visible[(visible.indexOf(pane) + step + visible.length) % visible.length] ?? pane
}

/** Index of the selected row, or 0 once that row has disappeared. */
export function findSelectedRow(selected: string | undefined, keys: readonly string[]): number {
  return Math.max(0, selected === undefined ? 0 : keys.indexOf(selected))
}

/** Names of the keys in one Ink event, such as `tab`, `up`, `q`. A burst of keys arrives as one text; chords are ignored. */
export function readKeyNames(input: string, key: Readonly<Record<string, unknown>>): string[] {
  if (key.ctrl || key.meta) return []
  if (key.tab) return [key.shift ? 'backtab' : 'tab']
  const inkName = Object.keys(inkKeyNames).find((name) => key[name])
  if (inkName) return [inkKeyNames[inkName] ?? inkName]
  return Array.from(input, (character) => textKeyNames[character] ?? character)
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
