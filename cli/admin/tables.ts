// What is found, as rows of text: which columns there are, how wide, and what in them is good or bad.
import type { ApiObject } from '../client/client.ts'
import type { PaneName } from './view.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'faint'
export type PaneCell = { readonly text: string; readonly tone?: Tone }

export type PaneColumn = {
  readonly heading: string
  /** Characters; a column that grows shares what is left over. */
  readonly width: number
  readonly grows?: boolean
  /** Left out on terminals with fewer columns than this. */
  readonly from?: number
}
export type PaneTable = {
  readonly columns: readonly PaneColumn[]
  readonly rows: readonly { readonly key: string; readonly cells: readonly PaneCell[] }[]
}

/** Characters that a growing column can do with. */
const min_growing_chars = 8

type PaneColumnSource = PaneColumn & { readonly cell: (item: ApiObject) => PaneCell }

/** `columns` of the terminal. Absent values are a dash. */
export function buildPaneTable(pane: PaneName, items: readonly ApiObject[], columns: number): PaneTable {
  const shown = selectFittingColumns(
    paneColumns[pane].filter(({ from = 0 }) => columns >= from),
    columns,
  )
  return {
    columns: shown.map(({ cell: _cell, ...column }) => column),
    rows: items.map((item) => ({ key: buildRowKey(pane, item), cells: shown.map(({ cell }) => cell(item)) })),
  }
}

/** The last columns matter least: they give way on a narrow terminal. */
function selectFittingColumns(shown: readonly PaneColumnSource[], columns: number): readonly PaneColumnSource[] {
  const needed = shown.reduce(
    (sum, { width, grows }) => sum + 2 + (grows ? Math.min(width, min_growing_chars) : width),
    0,
  )
  return needed <= columns || shown.length === 1 ? shown : selectFittingColumns(shown.slice(0, -1), columns)
}

/** What tells a row from the others of its pane, for as long as it is there. */
export function buildRowKey(pane: PaneName, item: ApiObject): string {
  if (pane === 'roles') return String(item.name)
  if (pane === 'denials') return `${item.reason} ${item.method} ${item.path}`
  return pane === 'sessions' ? String(item.id) : `${item.transport} ${item.peer} ${item.direction}`
}

const plainCell =
  (name: string, tone?: Tone) =>
  (item: ApiObject): PaneCell => ({ text: formatText(item[name]), ...(tone ? { tone } : {}) })

/** A count that should be nothing. */
const troubleCell =
  (name: string) =>
  (item: ApiObject): PaneCell => ({ text: formatText(item[name]), ...(item[name] ? { tone: 'bad' as const } : {}) })

const paneColumns: Readonly<Record<PaneName, readonly PaneColumnSource[]>> = {
  roles: [
    { heading: 'ROLE', width: 12, cell: plainCell('name') },
    {
      heading: 'STATE',
      width: 11,
      cell: ({ state }) => ({ text: formatText(state), tone: selectTone(String(state)) }),
    },
    { heading: 'NEEDS', width: 20, grows: true, cell: formatDependencies },
    { heading: 'URL', width: 24, cell: plainCell('url', 'faint') },
    { heading: 'VERSION', width: 8, from: 100, cell: plainCell('version', 'faint') },
  ],
  sessions: [
    { heading: 'SESSION', width: 18, cell: plainCell('id') },
    {
      heading: 'STATE',
      width: 14,
      cell: ({ state }) => ({ text: formatText(state), tone: selectTone(String(state)) }),
    },
    { heading: 'OUTCOME', width: 16, cell: (session) => ({ text: formatOutcome(session) }) },
    { heading: 'HEARD', width: 7, cell: (session) => ({ text: formatContributors(session) }) },
    { heading: 'OWED', width: 4, cell: ({ undelivered }) => formatPending(undelivered) },
    { heading: 'LENS', width: 12, grows: true, cell: plainCell('lens_id', 'faint') },
    { heading: 'CREATED', width: 19, from: 110, cell: ({ created_at }) => ({ text: formatInstant(created_at) }) },
  ],
  channels: [
    { heading: 'PEER', width: 10, grows: true, cell: plainCell('peer') },
    { heading: 'WAY', width: 3, cell: plainCell('direction') },
    { heading: 'STATE', width: 7, cell: formatChannelState },
    { heading: 'NEXT', width: 5, cell: plainCell('next_seq') },
    { heading: 'HIGHEST', width: 7, cell: plainCell('highest_seq') },
    { heading: 'GAPS', width: 4, cell: troubleCell('gaps') },
    { heading: 'BACKLOG', width: 7, cell: ({ backlog }) => formatPending(backlog) },
    { heading: 'REFUSED', width: 7, cell: troubleCell('quarantined') },
    { heading: 'SENT', width: 5, cell: plainCell('sent') },
    { heading: 'RECVD', width: 5, cell: plainCell('received') },
    { heading: 'TRANSPORT', width: 10, from: 100, cell: plainCell('transport', 'faint') },
  ],
  denials: [
    { heading: 'COUNT', width: 7, cell: plainCell('count') },
    { heading: 'REASON', width: 18, cell: plainCell('reason') },
    { heading: 'METHOD', width: 7, cell: plainCell('method') },
    { heading: 'PATH', width: 12, grows: true, cell: plainCell('path') },
    { heading: 'LAST FROM', width: 15, cell: plainCell('last_source', 'faint') },
    { heading: 'LAST', width: 19, from: 110, cell: ({ last_at }) => ({ text: formatInstant(last_at), tone: 'faint' }) },
  ],
}

const stateTones: Readonly<Record<string, Tone>> = {
  ok: 'good',
  RATIFIED: 'good',
  open: 'good',
  starting: 'warn',
  stopping: 'warn',
  PENDING_QUORUM: 'warn',
  PROPOSED: 'warn',
  WITHDRAWN: 'faint',
}

/** What is not known to be well is bad. */
export function selectTone(state: string): Tone {
  return stateTones[state] ?? 'bad'
}

/** An open channel from which nothing comes is not well either. */
function formatChannelState({ state, stale }: ApiObject): PaneCell {
  const text = stale && state === 'open' ? 'stale' : formatText(state)
  return { text, tone: selectTone(text) }
}

/** Why a role is not well comes first; else what it needs, by name. */
function formatDependencies({ fault, dependencies = [] }: ApiObject): PaneCell {
  if (fault !== undefined) return { text: formatText(fault), tone: 'bad' }
  const known = dependencies as readonly ApiObject[]
  const broken = known.filter(({ ok }) => !ok)
  if (broken.length > 0) return { text: broken.map(({ name, detail }) => `${name}: ${detail}`).join('; '), tone: 'bad' }
  return known.length > 0 ? { text: `ok: ${known.map(({ name }) => name).join(', ')}` } : { text: '-' }
}

/** What was decided and how surely; for a conflict why there is none. */
export function formatOutcome({ decision, reason, result }: ApiObject): string {
  const score = formatFigure((result as ApiObject | undefined)?.score)
  return [decision ?? reason, score].filter((part) => part !== undefined).join(' ') || '-'
}

/** `2/3 m2`: heard, of how many, and how many are needed. */
export function formatContributors({ contributors, policy }: ApiObject): string {
  const { m, n } = (policy ?? {}) as ApiObject
  return `${contributors}/${n} m${m}`
}

function formatPending(count: unknown): PaneCell {
  return { text: formatText(count), ...(count ? { tone: 'warn' as const } : {}) }
}

/** To the second; UTC, as everywhere. */
export function formatInstant(given: unknown): string {
  return formatText(given).replace('T', ' ').slice(0, 19)
}

/** Four decimals are enough to read. */
export function formatFigure(value: unknown): string | undefined {
  return typeof value === 'number' ? value.toFixed(4) : undefined
}

export function formatText(value: unknown): string {
  return value === undefined || value === null ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
