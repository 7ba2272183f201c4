// Reads certificate and key of the public listener again, for connections to come; refuses a pair that cannot be used.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { parseCertificates } from '../../../adapters/transport/mtls/material.ts'
import { isPrivateKeyOf } from '../../boot/links/network-files.ts'
import { getSettings } from '../../boot/profile.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings } from '../../roles/proxy/settings.ts'
import type { ProxyThreadConfig } from './thread-config.ts'

type TlsKeyPair = NonNullable<ProxyThreadConfig['tls']>

/**
 * What the two files hold now; `running` itself where that is what is shown already, however old it is. Refused when they are
 * no pair that a caller could be shown at `now` (epoch milliseconds): nothing is told of what is in them.
 */
export function reloadTls(
  running: TlsKeyPair | undefined,
  resolved: ResolvedSettings,
  now: number,
): TlsKeyPair | undefined | Refusal {
  const { tls_cert_file, tls_key_file } = getSettings(resolved, settings)
  if (!running || tls_cert_file === undefined || tls_key_file === undefined) return running
  try {
    const pair = { cert: readFileSync(tls_cert_file, 'utf8'), key: readFileSync(tls_key_file, 'utf8') }
    if (pair.cert === running.cert && pair.key === running.key) return running
    const fault = findPairFault(pair, now)
    return fault === undefined ? pair : refuseCertificate(`${tls_cert_file} and ${tls_key_file}: ${fault}`)
  } catch {
    return refuseCertificate(`${tls_cert_file} and ${tls_key_file} cannot both be read`)
  }
}

function refuseCertificate(reason: string): Refusal {
  const message = `${reason}; put a matching pair there (PEM), then reload again`
  return new Refusal('invalid', 'the certificate is refused, and nothing has changed', [
    { path: 'proxy.tls_cert_file', message },
  ])
}

/** The first certificate is the door's own, those after it are sent along. */
function findPairFault(pair: TlsKeyPair, now: number): string | undefined {
  const [certificate] = parseCertificatesOrNone(pair.cert)
  if (!certificate) return 'there is no certificate that can be read'
  if (!isPrivateKeyOf(pair.key, certificate)) return 'the key is not the private key of the certificate'
  if (certificate.validToDate.getTime() <= now)
    return `the certificate ended on ${certificate.validToDate.toISOString()}`
  if (certificate.validFromDate.getTime() > now)
    return `the certificate begins on ${certificate.validFromDate.toISOString()}`
  try {
    createSecureContext(pair)
    return undefined
  } catch {
    return 'they cannot be used for TLS'
  }
}

function parseCertificatesOrNone(text: string) {
  try {
    return parseCertificates(text)
  } catch {
    return []
  }
}
