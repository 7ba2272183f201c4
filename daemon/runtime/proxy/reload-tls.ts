// Reads certificate and key of the public listener again, for connections to come; refuses a pair that cannot be used.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { isPrivateKeyOf, parseCertificatesOrNone } from '../../boot/links/network-files.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
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

function refuseCertificate(why: string): Refusal {
  const message = `${why}; put a matching pair there (PEM), then reload again`
  return new Refusal('invalid', 'the certificate is refused, and nothing has changed', [
    { path: 'proxy.tls_cert_file', message },
  ])
}

/** The first certificate is the door's own, those after it are sent along. */
function findPairFault(pair: TlsKeyPair, now: number): string | undefined {
  const [own] = parseCertificatesOrNone(pair.cert)
  if (!own) return 'there is no certificate that can be read'
  if (!isPrivateKeyOf(pair.key, own)) return 'the key is not the private key of the certificate'
  if (own.validToDate.getTime() <= now) return `the certificate ended on ${own.validToDate.toISOString()}`
  if (own.validFromDate.getTime() > now) return `the certificate begins on ${own.validFromDate.toISOString()}`
  try {
    createSecureContext(pair)
    return undefined
  } catch {
    return 'they cannot be used for TLS'
  }
}
