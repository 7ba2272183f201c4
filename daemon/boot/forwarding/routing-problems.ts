// Faults of routing in the profile, for every role that forwards by it.
import type { DeclaredRole } from '../../kernel/role/configured-listener.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import { findBackends } from '../../shared/routing/site-routing.ts'
import { isLoopback } from '../start-checks.ts'

/** Requests with tokens of callers go there: never in the clear over a network in the strict profiles. */
export function mayForwardTo(resolved: ResolvedSettings, url: string): boolean {
  const { deployment_profile } = getSettings(resolved, platformSettings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const { protocol, hostname } = new URL(url)
  return !isStrict || protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

export function findRoutingProblems(resolved: ResolvedSettings, roles: readonly DeclaredRole[]): ProfileProblem[] {
  const backends = findBackends(resolved, roles)
  const hasGateway = backends.has('gateway') || getSettings(resolved, platformSettings).roles.includes('gateway')
  const { rest_gateway_enabled, hosts } = getSettings(resolved, ingressSettings)
  const isThroughNone = rest_gateway_enabled && !hasGateway
  return [
    ...[...backends].flatMap(([service, urls]) =>
      urls.every((url) => mayForwardTo(resolved, url))
        ? []
        : [
            {
              path: `ingress.backends.${service}`,
              message: 'must use TLS (https) in this deployment profile, unless it is on this machine',
            },
          ],
    ),
    ...Object.entries(hosts).flatMap(([host, service]) =>
      backends.has(service)
        ? []
        : [{ path: `ingress.hosts.${host}`, message: `names ${service}, which ingress.backends does not have` }],
    ),
    ...(isThroughNone
      ? [{ path: 'ingress.rest_gateway.enabled', message: 'needs a gateway: in platform.roles or ingress.backends' }]
      : []),
  ]
}
