// The state of each channel as gauges, which are set when the metrics are read.

import type { ChannelStatus } from '../../kernel/messaging/channel-status.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { gauge, type Metric } from '../../kernel/telemetry/metrics.ts'
import { carrierOf } from './carrier-settings.ts'
import { transportsPart } from './parts.ts'

const labels = ['transport', 'peer', 'direction'] as const
type ChannelGauge = Metric<(typeof labels)[number]>

/** A gauge whose value is not known yet is not shown. */
const gauges: readonly [ChannelGauge, (channel: ChannelStatus) => number | undefined][] = [
  [gauge('channel_open', 'Whether the channel may be used: 1, or 0 when it is frozen or stopped', labels), isOpen],
  [
    gauge('channel_stale', 'Whether nothing has come for three intervals of inventories', labels),
    (of) => Number(of.stale),
  ],
  [gauge('channel_next_seq', 'The next number to send, or the lowest that has not come', labels), (of) => of.next_seq],
  [gauge('channel_highest_seq', 'The highest number sent or heard of', labels), (of) => of.highest_seq],
  [gauge('channel_gaps', 'Numbers that are missing below the highest', labels), (of) => of.gaps],
  [gauge('channel_inventory_age_seconds', 'Time since the last inventory', labels), (of) => of.inventory_age_s],
  [
    gauge('channel_backlog', 'Messages that no carrier has taken, or that are not taken in', labels),
    (of) => of.backlog,
  ],
  [gauge('channel_held', 'Messages that wait behind a gap', labels), (of) => of.held],
  [
    gauge('channel_oldest_waiting_seconds', 'How long the first of the backlog has been here', labels),
    (of) => (of.backlog === 0 ? 0 : of.oldest_waiting_s),
  ],
  [gauge('channel_quarantine_items', 'Items in quarantine', labels), (of) => of.quarantined],
  [gauge('channel_quarantine_bytes', 'Bytes in quarantine', labels), (of) => of.quarantined_bytes],
  [
    gauge('channel_messages_per_minute', 'Messages made ready or applied, over five minutes', labels),
    (of) => of.messages_per_minute,
  ],
]

export const channelGauges: readonly ChannelGauge[] = gauges.map(([metric]) => metric)

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
    }
  }
}
