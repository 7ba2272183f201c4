// Metrics of the file-drop carrier, per peer.
import { counter } from '../../../daemon/kernel/telemetry/metrics.ts'
import { quarantineReasons } from './quarantine-reasons.ts'

/** Names that an operator pinned. */
const peer = { peer: 'names' } as const

export const sentTotal = counter('filedrop_sent_total', 'Messages signed and queued', peer)
export const publishedTotal = counter('filedrop_published_total', 'Messages made ready for the carrier', peer)
export const resentTotal = counter('filedrop_resent_total', 'Messages made ready once more, on request', peer)
export const receivedTotal = counter('filedrop_received_total', 'Messages taken in and applied', {
  ...peer,
  kind: 'names',
})
export const duplicatesTotal = counter('filedrop_duplicates_total', 'Messages that had arrived before', peer)
export const quarantinedTotal = counter('filedrop_quarantined_total', 'Messages put in quarantine', {
  ...peer,
  reason: quarantineReasons,
})
export const alarmsTotal = counter('filedrop_alarms_total', 'Channels that stopped, froze or fell silent', {
  ...peer,
  alarm: ['stopped', 'frozen', 'stale'],
})

export const filedropMetrics = [
  sentTotal,
  publishedTotal,
  resentTotal,
  receivedTotal,
  duplicatesTotal,
  quarantinedTotal,
  alarmsTotal,
] as const
