// Metrics of the proxy role. Labels have few values: never a path, a source, or other input of a caller.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'
import { type RequestVerdict, reasons } from './reasons.ts'
import { spanOutcomes } from './serving/thread-report.ts'

export const requestTotal = counter('proxy_request_total', 'Public requests, by outcome and reason', {
  verdict: ['allow', 'denied', 'method_not_allowed'] satisfies RequestVerdict[],
  reason: Object.keys(reasons),
})
export const answerTotal = counter('proxy_answer_total', 'Responses to public requests', { status: 'status' })
export const connectionFaultTotal = counter(
  'proxy_stray_total',
  'Connections that ended without a request, or whose caller read the response too slowly',
  {
    kind: ['malformed', 'head_too_large', 'too_slow', 'slow_reader', 'too_many_connections', 'handshake'],
  },
)
export const tokenTotal = counter('proxy_token_total', 'Attempts to obtain the service token', {
  outcome: ['minted', 'refused', 'unreachable'],
})
export const lostRecordTotal = counter(
  'proxy_audit_lost_total',
  'Audit records lost because the disk failed or was full',
  {},
)
export const spanTotal = counter(
  'proxy_span_total',
  'Spans of public requests, by outcome: recorded for the exporter, beyond the rate, or without room in a queue',
  { outcome: spanOutcomes },
)
export const shippedRecordTotal = counter('proxy_audit_shipped_total', 'Audit records shipped to the store', {})
export const journalBytes = gauge('proxy_audit_journal_bytes', 'Bytes of audit records that wait for the store', {})
export const threadCount = gauge('proxy_thread', 'Serving threads', {})
export const connectionCount = gauge('proxy_connection', 'Connections of callers', {})
export const cacheBytes = gauge('proxy_cache_bytes', 'Bytes of cached responses, over all threads', {})
export const cacheEntries = gauge('proxy_cache_entry', 'Cached responses, over all threads', {})

/** Metrics that the threads count. */
export const threadCounters = [requestTotal, answerTotal, connectionFaultTotal, tokenTotal, lostRecordTotal, spanTotal]

export const metrics = [
  ...threadCounters,
  ...[shippedRecordTotal, journalBytes, threadCount, connectionCount, cacheBytes, cacheEntries],
]
