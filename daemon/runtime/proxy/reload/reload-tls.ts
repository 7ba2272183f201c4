// Reloads certificate and key of the public listener for new connections; refuses an unusable pair.
import { readFileSync } from 'node:fs'
import { findPairFault, findValidityFault } from '../../../boot/listener-certificates.ts'
import { Refusal } from '../../../kernel/error/errors.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { settings } from '../../../roles/proxy/settings.ts'
import type { ProxyThreadConfig } from '../threads/thread-config.ts'

type TlsKeyPair = NonNullable<ProxyThreadConfig['tls']>

/**
 * The current content of the two files, or `running` itself if it is unchanged, even if it has expired. Refuses a pair that
 * is not valid at `now` (epoch milliseconds), without quoting its content.
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
    const fault = findPairFault(pair) ?? findValidityFault(pair, now)
    return fault === undefined ? pair : refuseCertificate(`${tls_cert_file} and ${tls_key_file}: ${fault}`)
  } catch {
    return refuseCertificate(`${tls_cert_file} and ${tls_key_file} cannot both be read`)
  }
}

function refuseCertificate(reason: string): Refusal {
  const message = `${reason}; put a matching pair there (PEM), then reload again`
  return new Refusal('invalid', 'the certificate cannot be used; nothing was changed', [
    { path: 'proxy.tls_cert_file', message },
  ])
}
