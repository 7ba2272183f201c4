// The roles of a site as its profile has them, for their objects in a Kubernetes cluster.
import { listListeners } from '../../kernel/role/configured-listener.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { searchSettings } from '../../kernel/settings/backing-service-settings.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { WorkloadRole } from '../../shared/routing/render/kubernetes/workloads.ts'
import { type RoutedService, routedServices } from '../../shared/routing/routed-services.ts'

/** Where documents are in a cluster of their own, several pods may serve a role. */
const max_pods = 4

export function listClusterRoles(resolved: ResolvedSettings, roles: readonly RoleOutline[]): readonly WorkloadRole[] {
  const { roles: names } = getSettings(resolved, platformSettings)
  return routedServices.flatMap((service: RoutedService) => {
    const role = roles.find(({ name }) => name === service.role && names.includes(name))
    return role ? [describeRole(service, role, resolved)] : []
  })
}

function describeRole({ name, port }: RoutedService, role: RoleOutline, resolved: ResolvedSettings): WorkloadRole {
  const [{ env }] = role.listeners
  const [listener] = listListeners(role, resolved)
  const isLocal = /^(127\.|localhost$|::1$)/.test(listener.host)
  return {
    role: role.name,
    service: name,
    port,
    // A free port would be another one at each start.
    container_port: listener.port || port,
    hasTls: listener.tls?.cert_file !== undefined,
    env: {
      ...(isLocal ? { [`${env}_HOST`]: '0.0.0.0' } : {}),
      ...(listener.port === 0 ? { [`${env}_PORT`]: String(port) } : {}),
    },
    extra_memory_mb: Number(resolved.values.get(role.name)?.cache_max_mb ?? 0),
    max_pods: getSettings(resolved, searchSettings).host === undefined ? 1 : max_pods,
  }
}
