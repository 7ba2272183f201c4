// The proxy role's metrics. Labels are of few values: never a path, a source, or anything that a caller can invent.
import { counter, gauge } from '../../kernel/telemetry/metrics.ts'

export const requestTotal = counter('proxy_request_total', 'Public requests, by what became of them and why', [
  'verdict',
  'reason',
])
export const answerTotal = counter('proxy_answer_total', 'Answers to public requests', ['status'])
export const connectionFaultTotal = counter(
  'proxy_stray_total',
  'Connections that ended without a request, or of a caller too slow for its answer',
  ['kind'],
)
export const tokenTotal = counter('proxy_token_total', 'Attempts to obtain the service token', ['outcome'])
export const lostRecordTotal = counter('proxy_audit_lost_total', 'Audit records that no disk could take', [])
export const shippedRecordTotal = counter('proxy_audit_shipped_total', 'Audit records brought into the store', [])
export const journalBytes = gauge('proxy_audit_journal_bytes', 'Audit records that wait for the store', [])
export const threadCount = gauge('proxy_thread', 'Threads that serve', [])
export const connectionCount = gauge('proxy_connection', 'Connections of callers', [])
export const cacheBytes = gauge('proxy_cache_bytes', 'Bytes of answers that are kept, over all threads', [])
export const cacheEntries = gauge('proxy_cache_entry', 'Answers that are kept, over all threads', [])

/** Those that the threads count. */
export const threadCounters = [requestTotal, answerTotal, connectionFaultTotal, tokenTotal, lostRecordTotal]

export const metrics = [
  ...threadCounters,
  ...[shippedRecordTotal, journalBytes, threadCount, connectionCount, cacheBytes, cacheEntries],
]
