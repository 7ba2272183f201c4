// Formats channels: one line for each direction, ages and sizes with units, and a bar while a backlog drains.
import type { ChannelStatus } from '../../daemon/kernel/messaging/channel-status.ts'
import { colourText, formatTable, type OutputColumn, type OutputRow } from '../terminal/output.ts'
import { formatBar } from '../terminal/progress-bar.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type TransportChannelStatus = ChannelStatus & { readonly transport: string }

const channelCell =
  (readCell: (channel: TransportChannelStatus) => unknown) =>
  (row: OutputRow): unknown =>
    readCell(row as TransportChannelStatus)

const channelColumns: readonly OutputColumn[] = [
  'peer',
  { heading: 'way', cell: channelCell(({ direction }) => direction) },
  { heading: 'state', cell: channelCell(({ state, stale }) => (stale && state === 'open' ? 'stale' : state)) },
  'epoch',
  { heading: 'next', cell: channelCell(({ next_seq }) => next_seq) },
  { heading: 'highest', cell: channelCell(({ highest_seq }) => highest_seq) },
  { heading: 'gaps', cell: channelCell(formatGaps) },
  'backlog',
  'held',
  { heading: 'oldest', cell: channelCell(({ oldest_waiting_s }) => formatAge(oldest_waiting_s)) },
  { heading: 'inventory', cell: channelCell(({ inventory_age_s }) => formatAge(inventory_age_s)) },
  {
    heading: 'quarantine',
    cell: channelCell(({ quarantined: count, quarantined_bytes }) => formatQuarantineSize(count, quarantined_bytes)),
  },
  { heading: 'per min', cell: channelCell(({ messages_per_minute }) => messages_per_minute) },
]

/** `?` and `3+`: until the next inventory nobody knows whether more is missing. */
function formatGaps({ gaps, direction, is_inventory_pending }: TransportChannelStatus): string | number {
  if (direction !== 'in' || !is_inventory_pending) return gaps
  return gaps === 0 ? '?' : `${gaps}+`
}

/** Table of channels. `closed`: pinned peers without a channel, one line each. */
export function formatChannels(
  terminal: Terminal,
  channels: readonly TransportChannelStatus[],
  closed: readonly string[] = [],
): string {
  const rows = [...channels, ...closed.map((peer) => ({ peer, state: 'closed' }))]
  return formatTable(terminal, rows, channelColumns, 'no peer is pinned')
}

/** Problems of the channels, one line each. */
export function formatChannelTroubles(terminal: Terminal, channels: readonly TransportChannelStatus[]): string[] {
  return channels.flatMap(({ peer, direction, state, stale, detail, set_aside }) => {
    const name = `${peer} ${direction}`
    if (state !== 'open') return [colourText(terminal, 'red', `${name} is ${state}: ${detail}`)]
    return [
      ...(stale ? [colourText(terminal, 'red', `${name} is stale: its inventories have stopped`)] : []),
      ...(detail === '' ? [] : [colourText(terminal, 'yellow', `${name}: ${detail}`)]),
      ...set_aside.map(({ role, kind, messages }) =>
        colourText(terminal, 'yellow', `${name}: ${formatSetAside(peer, role, kind, messages)}`),
      ),
    ]
  })
}

/** The finding and its remedy, in one line. */
function formatSetAside(peer: string, role: string, kind: string, messages: number): string {
  const finding = `${messages} of kind ${kind} wait for role ${role}, which this site does not run`
  return `${finding}: run the role, or platform filedrop discard ${peer} --first N --last N --reason TEXT (platform filedrop waiting ${peer} lists them)`
}

const ageUnits = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** `12 s`, `4 min`, `3 h`, `2 d`: rounded down. */
export function formatAge(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined
  const [unit, size] = ageUnits.find(([, min_s]) => seconds >= min_s) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${unit}`
}

function formatQuarantineSize(count = 0, bytes = 0): string | undefined {
  return count === 0 ? undefined : `${count} (${(bytes / 1e6).toFixed(1)} MB)`
}

/** Bar, rate and estimate of a draining backlog. `seconds`: time since the backlog was `total`. */
export function formatDrainProgress(remaining: number, total: number, seconds: number): string {
  const drained = total - remaining
  const rate = seconds > 0 ? drained / seconds : 0
  const estimate =
    rate > 0 ? `, ${(rate * 60).toFixed(0)} a minute, ${formatAge(Math.ceil(remaining / rate))} to go` : ''
  return `${formatBar(drained, total)} ${remaining} of ${total} left${estimate}`
}
