// What the file-drop carrier counts, per peer.
import { counter, gauge } from '../../../daemon/kernel/metrics.ts'

export const sentTotal = counter('filedrop_sent_total', 'Messages signed and queued', ['peer'])
export const publishedTotal = counter('filedrop_published_total', 'Messages made ready for the carrier', ['peer'])
export const receivedTotal = counter('filedrop_received_total', 'Messages taken in and applied', ['peer', 'kind'])
export const duplicatesTotal = counter('filedrop_duplicates_total', 'Messages that had arrived before', ['peer'])
export const quarantinedTotal = counter('filedrop_quarantined_total', 'Messages put in quarantine', ['peer', 'reason'])
export const alarmsTotal = counter('filedrop_alarms_total', 'Channels that stopped or froze', ['peer', 'alarm'])
export const gapGauge = gauge('filedrop_missing', 'Numbers that are missing below the highest that arrived', ['peer'])

export const filedropMetrics = [
  sentTotal,
  publishedTotal,
  receivedTotal,
  duplicatesTotal,
  quarantinedTotal,
  alarmsTotal,
  gapGauge,
] as const
