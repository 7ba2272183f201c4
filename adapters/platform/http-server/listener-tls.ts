// TLS of a listener: its certificate, and whether clients present theirs.
import type { TlsOptions } from 'node:tls'

/** PEM texts. With `ca`, a client must present a certificate that it has issued, or may when that is optional. */
export type ListenerTls = {
  readonly cert: string
  readonly key: string
  readonly ca?: string | undefined
  readonly isCertificateOptional?: boolean
  /** TLS 1.2 where it is absent. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  /** For clients that request one of the names; `*.a.example` is any one label before the dot. */
  readonly hosts?: readonly HostKeyPair[]
}

export type HostKeyPair = { readonly names: readonly string[]; readonly cert: string; readonly key: string }

/** With optional client certificates, an untrusted one passes the handshake, and the identity provider refuses it. */
export function buildTlsOptions({
  cert,
  key,
  ca,
  isCertificateOptional = false,
  minVersion = 'TLSv1.2',
}: ListenerTls): TlsOptions {
  const request = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: !isCertificateOptional }
  return { cert, key, minVersion, ...request }
}
