// The routing table of a site for commands: its rules, the processes of each service, and configurations of other servers.
import { formatYamlDocuments } from '../../../adapters/host/yaml/format-yaml.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { roles } from '../../roles.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import { renderCaddy } from '../../shared/routing/render/caddy.ts'
import { renderKubernetes } from '../../shared/routing/render/kubernetes/kubernetes.ts'
import type { WorkloadRole } from '../../shared/routing/render/kubernetes/workloads.ts'
import { renderNginx } from '../../shared/routing/render/nginx.ts'
import { buildRoutingTable, isHostRule, type RoutingRule } from '../../shared/routing/routing-table.ts'
import { findBackends, readRoutingOptions, type ServiceBackends } from '../../shared/routing/site-routing.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { listClusterRoles } from './cluster-roles.ts'

export type SiteRoutes = {
  readonly rules: readonly RoutingRule[]
  readonly backends: ServiceBackends
  readonly cluster_roles: readonly WorkloadRole[]
  readonly ingress_class: string | undefined
  readonly priority_annotation: string
}

/** Of the profile alone: services that register with a running gateway are not in it. Throws ProfileError. */
export function readSiteRoutes(folder: SiteFolder, env: EnvironmentVariables): SiteRoutes {
  const { resolved } = readSiteSettings(folder, env)
  const backends = findBackends(resolved, roles)
  const { class_name, priority_annotation } = getSettings(resolved, ingressSettings)
  return {
    rules: buildRoutingTable(readRoutingOptions(resolved, backends)),
    backends,
    cluster_roles: listClusterRoles(resolved, roles),
    ingress_class: class_name,
    priority_annotation,
  }
}

const renderers = { nginx: renderNginx, caddy: renderCaddy }

/** Throws Refusal for backends that the server cannot express. */
export function renderSiteRoutes(routes: SiteRoutes, format: keyof typeof renderers, address: string): string {
  const rendered = renderers[format]({ ...routes, address })
  if (isRefusal(rendered)) throw rendered
  return rendered
}

/** A stream of YAML documents, as `kubectl apply` takes it. Another site has no Service in the namespace of this one. */
export function renderClusterObjects(
  { rules, cluster_roles, ...ingress }: SiteRoutes,
  options: { readonly namespace: string; readonly image: string },
): string {
  const { ingress_class, priority_annotation } = ingress
  const own = rules.filter((rule) => !isHostRule(rule))
  return formatYamlDocuments(renderKubernetes(own, cluster_roles, { ...options, ingress_class, priority_annotation }))
}
