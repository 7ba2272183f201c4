// A channel as people read it: one line for each direction, ages and sizes in words, and a bar while a backlog drains.
import type { ChannelStatus } from '../daemon/kernel/channel-status.ts'
import { type Column, paint, type Row, table } from './output.ts'
import { bar } from './progress-bar.ts'
import type { Terminal } from './terminal.ts'

export type Channel = ChannelStatus & { readonly transport: string }

const cell =
  (of: (channel: Channel) => unknown) =>
  (row: Row): unknown =>
    of(row as Channel)

const columns: readonly Column[] = [
  'peer',
  { heading: 'way', cell: cell(({ direction }) => direction) },
  { heading: 'state', cell: cell(({ state, stale }) => (stale && state === 'open' ? 'stale' : state)) },
  'epoch',
  { heading: 'next', cell: cell(({ next_seq }) => next_seq) },
  { heading: 'highest', cell: cell(({ highest_seq }) => highest_seq) },
  'gaps',
  'backlog',
  'held',
  { heading: 'oldest', cell: cell(({ oldest_waiting_s }) => age(oldest_waiting_s)) },
  { heading: 'inventory', cell: cell(({ inventory_age_s }) => age(inventory_age_s)) },
  { heading: 'quarantine', cell: cell(({ quarantined: items, quarantined_bytes }) => stock(items, quarantined_bytes)) },
  { heading: 'per min', cell: cell(({ messages_per_minute }) => messages_per_minute) },
]

/** `closed`: peers that are pinned and have no channel, a line each. */
export function channelTable(terminal: Terminal, channels: readonly Channel[], closed: readonly string[] = []): string {
  const rows = [...channels, ...closed.map((peer) => ({ peer, state: 'closed' }))]
  return table(terminal, rows, columns, 'no peer is pinned')
}

/** What is wrong with each channel that something is wrong with, a line each. */
export function channelTroubles(terminal: Terminal, channels: readonly Channel[]): string[] {
  return channels.flatMap(({ peer, direction, state, stale, detail }) => {
    const name = `${peer} ${direction}`
    if (state !== 'open') return [paint(terminal, 'red', `${name} is ${state}: ${detail}`)]
    return [
      ...(stale ? [paint(terminal, 'red', `${name} is stale: its inventories have stopped`)] : []),
      ...(detail === '' ? [] : [paint(terminal, 'yellow', `${name}: ${detail}`)]),
    ]
  })
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** `12 s`, `4 min`, `3 h`, `2 d`: rounded down. */
export function age(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined
  const [unit, size] = units.find(([, least]) => seconds >= least) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit}`
}

function stock(items = 0, bytes = 0): string | undefined {
  return items === 0 ? undefined : `${items} (${(bytes / 1e6).toFixed(1)} MB)`
}

/** `left` of `most` messages; `seconds` since there were `most`. */
export function drainLine(left: number, most: number, seconds: number): string {
  const gone = most - left
  const rate = seconds > 0 ? gone / seconds : 0
  const rest = rate > 0 ? `, ${(rate * 60).toFixed(0)} a minute, ${age(Math.ceil(left / rate))} to go` : ''
  return `${bar(gone, most)} ${left} of ${most} left${rest}`
}
