// Metrics of the mTLS carrier: refused connections, and remaining lifetimes of certificates.
import { counter, gauge } from '../../../daemon/kernel/telemetry/metrics.ts'

export const refusedTotal = counter('mtls_refused_total', 'Connections and requests that were turned away', ['why'])
export const certificateEnd = gauge(
  'mtls_certificate_end_seconds',
  'Unix time at which the certificate of this site, or the last authority of a peer, ends',
  ['of'],
)

export const mtlsMetrics = [refusedTotal, certificateEnd] as const
