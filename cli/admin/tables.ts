// What is found, as rows of text: which columns there are, how wide, and what in them is good or bad.
import type { Answered } from '../client/client.ts'
import type { Pane } from './view.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'faint'
export type Cell = { readonly text: string; readonly tone?: Tone }

export type Column = {
  readonly heading: string
  /** Characters; a column that grows shares what is left over. */
  readonly width: number
  readonly grows?: boolean
  /** Left out on terminals with fewer columns than this. */
  readonly from?: number
}
export type Table = {
  readonly columns: readonly Column[]
  readonly rows: readonly { readonly key: string; readonly cells: readonly Cell[] }[]
}

/** Characters that a growing column can do with. */
const leastGrowing = 8

type Shown = Column & { readonly cell: (item: Answered) => Cell }

/** `columns` of the terminal. Absent values are a dash. */
export function tableOf(pane: Pane, items: readonly Answered[], columns: number): Table {
  const shown = fitting(
    shownOf[pane].filter(({ from = 0 }) => columns >= from),
    columns,
  )
  return {
    columns: shown.map(({ cell: _cell, ...column }) => column),
    rows: items.map((item) => ({ key: keyOf(pane, item), cells: shown.map(({ cell }) => cell(item)) })),
  }
}

/** The last columns matter least: they give way on a narrow terminal. */
function fitting(shown: readonly Shown[], columns: number): readonly Shown[] {
  const needed = shown.reduce((sum, { width, grows }) => sum + 2 + (grows ? Math.min(width, leastGrowing) : width), 0)
  return needed <= columns || shown.length === 1 ? shown : fitting(shown.slice(0, -1), columns)
}

/** What tells a row from the others of its pane, for as long as it is there. */
export function keyOf(pane: Pane, item: Answered): string {
  if (pane === 'roles') return String(item.name)
  if (pane === 'denials') return `${item.reason} ${item.method} ${item.path}`
  return pane === 'sessions' ? String(item.id) : `${item.transport} ${item.peer} ${item.direction}`
}

const plain =
  (name: string, tone?: Tone) =>
  (item: Answered): Cell => ({ text: textOf(item[name]), ...(tone ? { tone } : {}) })

/** A count that should be nothing. */
const trouble =
  (name: string) =>
  (item: Answered): Cell => ({ text: textOf(item[name]), ...(item[name] ? { tone: 'bad' as const } : {}) })

const shownOf: Readonly<Record<Pane, readonly Shown[]>> = {
  roles: [
    { heading: 'ROLE', width: 12, cell: plain('name') },
    { heading: 'STATE', width: 11, cell: ({ state }) => ({ text: textOf(state), tone: toneOf(String(state)) }) },
    { heading: 'NEEDS', width: 20, grows: true, cell: needs },
    { heading: 'URL', width: 24, cell: plain('url', 'faint') },
    { heading: 'VERSION', width: 8, from: 100, cell: plain('version', 'faint') },
  ],
  sessions: [
    { heading: 'SESSION', width: 18, cell: plain('id') },
    { heading: 'STATE', width: 14, cell: ({ state }) => ({ text: textOf(state), tone: toneOf(String(state)) }) },
    { heading: 'OUTCOME', width: 16, cell: (session) => ({ text: outcomeOf(session) }) },
    { heading: 'HEARD', width: 7, cell: (session) => ({ text: heardOf(session) }) },
    { heading: 'OWED', width: 4, cell: ({ undelivered }) => owed(undelivered) },
    { heading: 'LENS', width: 12, grows: true, cell: plain('lens_id', 'faint') },
    { heading: 'CREATED', width: 19, from: 110, cell: ({ created_at }) => ({ text: instant(created_at) }) },
  ],
  channels: [
    { heading: 'PEER', width: 10, grows: true, cell: plain('peer') },
    { heading: 'WAY', width: 3, cell: plain('direction') },
    { heading: 'STATE', width: 7, cell: standing },
    { heading: 'NEXT', width: 5, cell: plain('next_seq') },
    { heading: 'HIGHEST', width: 7, cell: plain('highest_seq') },
    { heading: 'GAPS', width: 4, cell: trouble('gaps') },
    { heading: 'BACKLOG', width: 7, cell: ({ backlog }) => owed(backlog) },
    { heading: 'REFUSED', width: 7, cell: trouble('quarantined') },
    { heading: 'SENT', width: 5, cell: plain('sent') },
    { heading: 'RECVD', width: 5, cell: plain('received') },
    { heading: 'TRANSPORT', width: 10, from: 100, cell: plain('transport', 'faint') },
  ],
  denials: [
    { heading: 'COUNT', width: 7, cell: plain('count') },
    { heading: 'REASON', width: 18, cell: plain('reason') },
    { heading: 'METHOD', width: 7, cell: plain('method') },
    { heading: 'PATH', width: 12, grows: true, cell: plain('path') },
    { heading: 'LAST FROM', width: 15, cell: plain('last_source', 'faint') },
    { heading: 'LAST', width: 19, from: 110, cell: ({ last_at }) => ({ text: instant(last_at), tone: 'faint' }) },
  ],
}

const tones: Readonly<Record<string, Tone>> = {
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
export function toneOf(state: string): Tone {
  return tones[state] ?? 'bad'
}

/** An open channel from which nothing comes is not well either. */
function standing({ state, stale }: Answered): Cell {
  const text = stale && state === 'open' ? 'stale' : textOf(state)
  return { text, tone: toneOf(text) }
}

/** Why a role is not well comes first; else what it needs, by name. */
function needs({ fault, dependencies = [] }: Answered): Cell {
  if (fault !== undefined) return { text: textOf(fault), tone: 'bad' }
  const known = dependencies as readonly Answered[]
  const broken = known.filter(({ ok }) => !ok)
  if (broken.length > 0) return { text: broken.map(({ name, detail }) => `${name}: ${detail}`).join('; '), tone: 'bad' }
  return known.length > 0 ? { text: `ok: ${known.map(({ name }) => name).join(', ')}` } : { text: '-' }
}

/** What was decided and how surely; for a conflict why there is none. */
export function outcomeOf({ decision, reason, result }: Answered): string {
  const score = figure((result as Answered | undefined)?.score)
  return [decision ?? reason, score].filter((part) => part !== undefined).join(' ') || '-'
}

/** `2/3 m2`: heard, of how many, and how many are needed. */
export function heardOf({ contributors, policy }: Answered): string {
  const { m, n } = (policy ?? {}) as Answered
  return `${contributors}/${n} m${m}`
}

function owed(count: unknown): Cell {
  return { text: textOf(count), ...(count ? { tone: 'warn' as const } : {}) }
}

/** To the second; UTC, as everywhere. */
export function instant(given: unknown): string {
  return textOf(given).replace('T', ' ').slice(0, 19)
}

/** Four decimals are enough to read. */
export function figure(value: unknown): string | undefined {
  return typeof value === 'number' ? value.toFixed(4) : undefined
}

export function textOf(value: unknown): string {
  return value === undefined || value === null ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
