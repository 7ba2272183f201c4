// The end of the certificate that a listener presents, as a metric: an alert comes before it, not with it.
import { gauge, type Metrics } from '../kernel/telemetry/metrics.ts'
import { parseCertificatesOrNone } from './links/network-files.ts'

export const listenerCertificateEnd = gauge(
  'listener_certificate_end_seconds',
  'End of the certificate of a listener, in seconds since 1970',
  { listener: 'names' },
)

/** `pem`: the chain; its first certificate is that of the listener. */
export function reportCertificateEnd(metrics: Metrics, listener: string, pem: string): void {
  const [certificate] = parseCertificatesOrNone(pem)
  if (certificate) metrics.set(listenerCertificateEnd, { listener }, certificate.validToDate.getTime() / 1_000)
}
