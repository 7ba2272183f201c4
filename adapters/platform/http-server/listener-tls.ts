// TLS of a listener: its certificate, and whether clients present theirs.
import type { TlsOptions } from 'node:tls'

/** PEM texts. With `ca`, a client must present a certificate that it has issued, or may when that is optional. */
export type ListenerTls = {
  readonly cert: string
  readonly key: string
  readonly ca?: string | undefined
  readonly isCertificateOptional?: boolean
}

/** With optional client certificates, an untrusted one passes the handshake, and the identity provider refuses it. */
export function buildTlsOptions({ cert, key, ca, isCertificateOptional = false }: ListenerTls): TlsOptions {
  const request = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: !isCertificateOptional }
  return { cert, key, minVersion: 'TLSv1.2', ...request }
}
