// Gauges with the state of each channel, set when the metrics are read.

import type { ChannelStatus } from '../../kernel/messaging/channel-status.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { gauge, type Metric } from '../../kernel/telemetry/metrics.ts'
import { carrierOf } from './carrier-settings.ts'
import { messageKindsPart, transportsPart } from './parts.ts'

const labels = { transport: 'names', peer: 'names', direction: ['out', 'in'] } as const
type ChannelGauge = Metric<keyof typeof labels>

/** Gauges of a channel; one without a known value is omitted. */
const gauges: readonly [ChannelGauge, (channel: ChannelStatus) => number | undefined][] = [
  [gauge('channel_open', 'Whether the channel may be used: 1, or 0 when it is frozen or stopped', labels), isOpen],
  [
    gauge('channel_stale', 'Whether no message arrived for three intervals of inventories', labels),
    (channel) => Number(channel.stale),
  ],
  [
    gauge('channel_next_seq', 'The next number to send, or the lowest number that has not arrived', labels),
    (channel) => channel.next_seq,
  ],
  [gauge('channel_highest_seq', 'The highest number sent or announced', labels), (channel) => channel.highest_seq],
  [gauge('channel_gaps', 'Missing numbers below the highest', labels), (channel) => channel.gaps],
  [
    gauge('channel_inventory_age_seconds', 'Time since the last inventory', labels),
    (channel) => channel.inventory_age_s,
  ],
  [
    gauge('channel_backlog', 'Messages not yet taken by a carrier, or not yet taken in', labels),
    (channel) => channel.backlog,
  ],
  [gauge('channel_held', 'Messages that wait behind a gap', labels), (channel) => channel.held],
  [
    gauge('channel_oldest_waiting_seconds', 'Age of the oldest message of the backlog', labels),
    (channel) => (channel.backlog === 0 ? 0 : channel.oldest_waiting_s),
  ],
  [gauge('channel_quarantine_items', 'Items in quarantine', labels), (channel) => channel.quarantined],
  [gauge('channel_quarantine_bytes', 'Bytes in quarantine', labels), (channel) => channel.quarantined_bytes],
  [
    gauge('channel_messages_per_minute', 'Messages made ready or applied, over five minutes', labels),
    (channel) => channel.messages_per_minute,
  ],
]

const setAsideGauge = gauge('channel_set_aside', 'Messages that wait for a role that the site does not run', {
  ...labels,
  kind: 'names',
})

export const channelGauges: readonly Metric[] = [...gauges.map(([metric]) => metric), setAsideGauge]

function isOpen({ state }: ChannelStatus): number {
  return Number(state === 'open')
}

export async function setChannelGauges(call: Call): Promise<void> {
  for (const carrier of call.part(transportsPart)) {
    for (const channel of await carrier.status()) {
      const { peer, direction } = channel
      const transport = carrierOf(peer, (section) => call.settings(section))
      for (const [metric, read] of gauges) {
        const value = read(channel)
        if (value !== undefined) call.set(metric, { transport, peer, direction }, value)
      }
      for (const kind of direction === 'in' ? call.part(messageKindsPart).names : []) {
        const waiting = channel.set_aside.find((each) => each.kind === kind)?.messages ?? 0
        call.set(setAsideGauge, { transport, peer, direction, kind }, waiting)
      }
    }
  }
}
