// The routing table of a site for commands: its rules, the processes of each service, and configurations of other servers.
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { roles } from '../../roles.ts'
import { renderCaddy } from '../../shared/routing/render/caddy.ts'
import { renderNginx } from '../../shared/routing/render/nginx.ts'
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

const renderers = { nginx: renderNginx, caddy: renderCaddy }

/** Throws Refusal for backends that the server cannot express. */
export function renderSiteRoutes(routes: SiteRoutes, format: keyof typeof renderers, address: string): string {
  const rendered = renderers[format]({ ...routes, address })
  if (isRefusal(rendered)) throw rendered
  return rendered
}
