// Metrics of the mTLS carrier: refused connections, and remaining lifetimes of certificates.
import { counter, gauge } from '../../../daemon/kernel/telemetry/metrics.ts'

/** Why a connection or request was refused. */
const refusalReasons = [
  'bad_request',
  'broken_off',
  'handshake',
  'names_no_site',
  'not_enrolled',
  'not_pinned',
  'not_valid_now',
  'other_authority',
  'other_key',
  'too_large',
  'too_many_connections',
  'too_many_handshakes',
  'too_slow',
  'wrong_use',
]

export const refusedTotal = counter('mtls_refused_total', 'Connections and requests that were turned away', {
  why: refusalReasons,
})
export const certificateEnd = gauge(
  'mtls_certificate_end_seconds',
  'Unix time at which the certificate of this site, or the last authority of a peer, ends',
  { of: 'names' },
)

export const mtlsMetrics = [refusedTotal, certificateEnd] as const
