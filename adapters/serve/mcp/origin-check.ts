// Accepts only requests that name this service and come from an allowed page: DNS rebinding and cross-site requests are
// refused before the token is checked.

import type { HeaderFields } from '../../../daemon/kernel/api/surface.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'

export type OriginPolicy = {
  /** Host names, lower case, without ports; IPv6 addresses in brackets. */
  readonly hosts: ReadonlySet<string>
  /** Origins as browsers write them, such as `https://console.example`. */
  readonly origins: ReadonlySet<string>
}

/** `Host` must be one of the names. `Origin`, which only browsers send, must be listed or be the requested host. */
export function checkRequestOrigin(
  { hosts, origins }: OriginPolicy,
  { host, origin }: HeaderFields,
): Refusal | undefined {
  const requested = parseUrl(`http://${host}`)
  if (!requested || !hosts.has(requested.hostname) || requested.host !== normaliseHost(host)) {
    return refuse('forbidden', 'the name in Host is not a name of this service')
  }
  if (origin === undefined || origins.has(origin)) return undefined
  if ([`http://${host}`, `https://${host}`].includes(origin)) return undefined
  return refuse('forbidden', 'this Origin is not allowed')
}

/** Lower case, without port 80. Differs from the parsed host when the header holds more, such as a user or a path. */
function normaliseHost(host: string | undefined): string {
  return (host ?? '').toLowerCase().replace(/:80$/, '')
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
