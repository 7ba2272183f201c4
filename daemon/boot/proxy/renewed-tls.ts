// Certificate and key of the door read again: shown to whoever comes next, or left as they are with a reason.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { certificatesOfText } from '../../../adapters/transport/mtls/material.ts'
import { Refused } from '../../kernel/errors.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { settings } from '../../roles/proxy/settings.ts'
import { isKeyOf } from '../network-files.ts'
import { valuesOf } from '../profile.ts'
import type { ThreadConfig } from './thread-config.ts'

type Pair = NonNullable<ThreadConfig['tls']>

/**
 * What the two files hold now; `running` itself where that is what is shown already, however old it is. Refused when they are
 * no pair that a caller could be shown at `now` (epoch milliseconds): nothing is told of what is in them.
 */
export function renewedTls(running: Pair | undefined, resolved: Resolved, now: number): Pair | undefined | Refused {
  const { tls_cert_file, tls_key_file } = valuesOf(resolved, settings)
  if (!running || tls_cert_file === undefined || tls_key_file === undefined) return running
  try {
    const pair = { cert: readFileSync(tls_cert_file, 'utf8'), key: readFileSync(tls_key_file, 'utf8') }
    if (pair.cert === running.cert && pair.key === running.key) return running
    const fault = pairFault(pair, now)
    return fault === undefined ? pair : refused(`${tls_cert_file} and ${tls_key_file}: ${fault}`)
  } catch {
    return refused(`${tls_cert_file} and ${tls_key_file} cannot both be read`)
  }
}

function refused(why: string): Refused {
  const message = `${why}; put a matching pair there (PEM), then reload again`
  return new Refused('invalid', 'the certificate is refused, and nothing has changed', [
    { path: 'proxy.tls_cert_file', message },
  ])
}

/** The first certificate is the door's own, those after it are sent along. */
function pairFault(pair: Pair, now: number): string | undefined {
  const [own] = certificatesOrNone(pair.cert)
  if (!own) return 'there is no certificate that can be read'
  if (!isKeyOf(pair.key, own)) return 'the key is not the private key of the certificate'
  if (own.validToDate.getTime() <= now) return `the certificate ended on ${own.validToDate.toISOString()}`
  if (own.validFromDate.getTime() > now) return `the certificate begins on ${own.validFromDate.toISOString()}`
  try {
    createSecureContext(pair)
    return undefined
  } catch {
    return 'they cannot be used for TLS'
  }
}

function certificatesOrNone(text: string) {
  try {
    return certificatesOfText(text)
  } catch {
    return []
  }
}
