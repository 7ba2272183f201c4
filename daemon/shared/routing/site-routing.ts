// The routing of a site by its profile: the processes of each service, and the options of the table.
import { offersTools } from '../../kernel/api/mcp-tools.ts'
import { type DeclaredRole, listListeners } from '../../kernel/role/configured-listener.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { ingressSettings } from './ingress-settings.ts'
import { type RoutedService, routedServices } from './routed-services.ts'
import type { RoutingOptions } from './routing-table.ts'

/** URLs of the processes of each service, by its name; a service without any is not served. */
export type ServiceBackends = ReadonlyMap<string, readonly string[]>

/** Of the profile, then of the URLs of other machines, then of the roles that the profile runs. */
export function findBackends(resolved: ResolvedSettings, roles: readonly DeclaredRole[]): ServiceBackends {
  const settings = getSettings(resolved, ingressSettings)
  const urls: Readonly<Record<string, string | undefined>> = {
    'intelligence-service': settings.intelligence_url,
    'resolution-service': settings.entity_resolution_url,
    'data-platform-service': settings.data_platform_url,
  }
  const backends = new Map<string, readonly string[]>(Object.entries(settings.backends))
  for (const service of routedServices) {
    const url = urls[service.name] ?? findRoleUrl(service, resolved, roles)
    if (url !== undefined && !backends.has(service.name)) backends.set(service.name, [url])
  }
  return backends
}

/** Undefined for a role that the profile does not run, or that takes any free port. */
function findRoleUrl({ role: name }: RoutedService, resolved: ResolvedSettings, roles: readonly DeclaredRole[]) {
  const role = roles.find((each) => each.name === name)
  if (!role || !getSettings(resolved, platformSettings).roles.includes(role.name)) return undefined
  const [{ host, port, tls }] = listListeners(role, resolved)
  if (port === 0) return undefined
  return `${tls?.cert_file === undefined ? 'http' : 'https'}://${formatDialledHost(host)}:${port}`
}

/** A role that listens on every address is reached on this machine. */
function formatDialledHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** A gateway of this profile that offers no tools would hide those of intelligence. That of another machine is taken to. */
function mayOfferTools(resolved: ResolvedSettings): boolean {
  const { roles, deployment_profile } = getSettings(resolved, platformSettings)
  if (!roles.includes('gateway')) return true
  return offersTools({ role: { name: 'gateway' }, deployment: { deployment_profile, settings: resolved } })
}

/** The options of `buildRoutingTable` that the profile decides. */
export function readRoutingOptions(resolved: ResolvedSettings, backends: ServiceBackends): RoutingOptions {
  const settings = getSettings(resolved, ingressSettings)
  return {
    served: new Set(backends.keys()),
    registered: [],
    hasRest: settings.rest_enabled,
    rest_priority: settings.rest_priority,
    isGatewayInPath: settings.rest_gateway_enabled,
    hasGatewayAgentspace: settings.agentspace_enabled && mayOfferTools(resolved),
    objects: settings.rest_objects,
    hosts: settings.hosts,
  }
}
