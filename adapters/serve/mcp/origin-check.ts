// Lets in only requests that name this service and come from no page of another: what a browser can be tricked into
// asking (DNS rebinding, cross-site requests) is refused before the token is looked at.

import type { HeaderFields } from '../../../daemon/kernel/api/surface.ts'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'

export type OriginPolicy = {
  /** Host names, lower case, without ports; IPv6 addresses in brackets. */
  readonly hosts: ReadonlySet<string>
  /** Origins as browsers write them, such as `https://console.example`. */
  readonly origins: ReadonlySet<string>
}

/** `Host` must be one of the names. `Origin`, which only browsers send, must be listed or be the very host asked. */
export function checkRequestOrigin(
  { hosts, origins }: OriginPolicy,
  { host, origin }: HeaderFields,
): Refusal | undefined {
  const asked = parseUrl(`http://${host}`)
  if (!asked || !hosts.has(asked.hostname) || asked.host !== normaliseHost(host)) {
    return refuse('forbidden', 'this service does not go by the name in Host')
  }
  if (origin === undefined || origins.has(origin)) return undefined
  if ([`http://${host}`, `https://${host}`].includes(origin)) return undefined
  return refuse('forbidden', 'pages of this origin may not ask')
}

/** Without a port that says nothing, and without anything around the name that a URL would hide: a user, a path. */
function normaliseHost(host: string | undefined): string {
  return (host ?? '').toLowerCase().replace(/:80$/, '')
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
