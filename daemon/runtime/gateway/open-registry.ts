// Opens the registry of services: how the gateway reads service-info, and what the profile says of routing.
import { readFileSync } from 'node:fs'
import { networkRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { parseUntrustedJson } from '../../../adapters/serve/http/untrusted-json.ts'
import { serviceInfoReader } from '../../../adapters/service-info/http/service-info-reader.ts'
import { findRoutingProblems, mayForwardTo } from '../../boot/forwarding/routing-problems.ts'
import { findUnreadableFile } from '../../boot/host/unreadable-file.ts'
import type { WiredRole } from '../../boot/role-wire.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { PartKey } from '../../kernel/role/part.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import {
  type PullRounds,
  pullRoundsPart,
  type ServiceInfoReader,
  serviceInfoReaderPart,
  siteRoutingPart,
} from '../../roles/gateway/parts.ts'
import type { SiteRouting } from '../../roles/gateway/route/model.ts'
import { settings } from '../../roles/gateway/settings.ts'
import { roles } from '../../roles.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import { findBackends, readRoutingOptions } from '../../shared/routing/site-routing.ts'

const entryOf = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]

export function findRegistryProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const { ca_file, services } = getSettings(resolved, settings)
  const message = 'must use TLS (https) in this deployment profile, unless it is on this machine'
  return [
    ...findRoutingProblems(resolved, roles),
    ...findUnreadableFile('gateway.ca_file', ca_file),
    ...services.flatMap((url, at) =>
      mayForwardTo(resolved, url) ? [] : [{ path: `gateway.services.${at}`, message }],
    ),
  ]
}

export function openRegistry(resolved: ResolvedSettings): WiredRole['parts'] {
  return [
    entryOf<ServiceInfoReader>(serviceInfoReaderPart, openReader(resolved)),
    entryOf<SiteRouting>(siteRoutingPart, readSiteRouting(resolved)),
    entryOf<PullRounds>(pullRoundsPart, { last_ms: undefined, failures: new Map() }),
  ]
}

function openReader(resolved: ResolvedSettings): ServiceInfoReader {
  const { ca_file } = getSettings(resolved, settings)
  const { registered_networks } = getSettings(resolved, ingressSettings)
  const read = serviceInfoReader({
    rule: networkRule(registered_networks),
    ca: ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8'),
    parse(bytes) {
      const value = parseUntrustedJson(bytes)
      return isRefusal(value) ? undefined : value
    },
  })
  return async (url, signal) => {
    if (mayForwardTo(resolved, url)) return await read(url, signal)
    return { fault: 'url_not_allowed', reason: 'this deployment profile allows http on this machine only' }
  }
}

function readSiteRouting(resolved: ResolvedSettings): SiteRouting {
  const backends = findBackends(resolved, roles)
  return { backends, options: readRoutingOptions(resolved, backends), own_subject: findOwnSubject(resolved) }
}

/** The site's own issuer gives its clients the subjects of the profile; those of an identity provider are not in it. */
function findOwnSubject(resolved: ResolvedSettings): string | undefined {
  const { client_id } = getSettings(resolved, ssoSettings)
  const client = getSettings(resolved, identitySettings).clients.find((each) => each.client_id === client_id)
  return client && (client.subject ?? client.client_id)
}
