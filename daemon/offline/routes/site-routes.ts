// The routing table of a site for commands: its rules, and the processes of each service.
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { roles } from '../../roles.ts'
import { buildRoutingTable, type RoutingRule } from '../../shared/routing/routing-table.ts'
import { findBackends, readRoutingOptions, type ServiceBackends } from '../../shared/routing/site-routing.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

export type SiteRoutes = { readonly rules: readonly RoutingRule[]; readonly backends: ServiceBackends }

/** Of the profile alone: services that register with a running gateway are not in it. Throws ProfileError. */
export function readSiteRoutes(folder: SiteFolder, env: EnvironmentVariables): SiteRoutes {
  const { resolved } = readSiteSettings(folder, env)
  const backends = findBackends(resolved, roles)
  return { rules: buildRoutingTable(readRoutingOptions(resolved, backends)), backends }
}
