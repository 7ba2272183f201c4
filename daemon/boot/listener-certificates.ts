// Certificates of listeners: what is wrong with one, and its end as a metric, since an alert comes before it, not with it.
import { createSecureContext } from 'node:tls'
import { gauge, type Metrics } from '../kernel/telemetry/metrics.ts'
import { isPrivateKeyOf, parseCertificatesOrNone } from './links/network-files.ts'

/** PEM texts. The first certificate is that of the listener; the others complete its chain. */
export type ListenerKeyPair = { readonly cert: string; readonly key: string }

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

/** Why a listener cannot present the pair; undefined where it can. Quotes nothing of its content. */
export function findPairFault(pair: ListenerKeyPair): string | undefined {
  const [certificate] = parseCertificatesOrNone(pair.cert)
  if (!certificate) return 'the file contains no readable certificate'
  if (!isPrivateKeyOf(pair.key, certificate)) return 'the key is not the private key of the certificate'
  try {
    createSecureContext(pair)
    return undefined
  } catch {
    return 'they cannot be used for TLS'
  }
}

/** `now`: epoch milliseconds. */
export function findValidityFault({ cert }: ListenerKeyPair, now: number): string | undefined {
  const [certificate] = parseCertificatesOrNone(cert)
  if (!certificate) return undefined
  const { validFromDate, validToDate } = certificate
  if (validToDate.getTime() <= now) return `the certificate ended on ${validToDate.toISOString()}`
  return validFromDate.getTime() > now ? `the certificate begins on ${validFromDate.toISOString()}` : undefined
}
