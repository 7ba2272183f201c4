// Metrics of the observation of calls and chat, under the names of document 002.
import { counter, gauge } from '../../../../kernel/telemetry/metrics.ts'

export const ingestAcceptedTotal = counter(
  'guide_ingest_accepted_total',
  'Observations that were put into the queue, by the service that they are about; service "other": not in the registry',
  { service: 'names' },
)
export const ingestDroppedTotal = counter(
  'guide_ingest_queue_dropped_total',
  'Observations that were dropped since the queue was full',
  { service: 'names' },
)
/** `invalid`: an envelope that does not fit its schema. `queue_full`: as a dropped observation. */
export const ingestPostFailureTotal = counter(
  'guide_ingest_post_failure_total',
  'Envelopes that came over HTTP and were not stored',
  { service: 'names', kind: ['invalid', 'queue_full'] },
)
export const ingestWorkerFailureTotal = counter(
  'guide_ingest_worker_failure_total',
  'Observations that could not be stored after all attempts',
  { service: 'names' },
)
export const ingestQueueDepth = gauge('guide_ingest_queue_depth', 'Observations that wait to be stored', {})
export const lastIngestTs = gauge(
  'guide_ingest_last_ingest_ts',
  'Time of the last observation that was put into the queue, in seconds since 1970',
  { service: 'names' },
)
export const lastDrainTs = gauge(
  'guide_ingest_last_drain_ts',
  'Time at which the last observation was stored, in seconds since 1970',
  { service: 'names' },
)
export const observationMetrics = [
  ingestAcceptedTotal,
  ingestDroppedTotal,
  ingestPostFailureTotal,
  ingestWorkerFailureTotal,
  ingestQueueDepth,
  lastIngestTs,
  lastDrainTs,
]
