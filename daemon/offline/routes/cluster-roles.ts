// The roles of a site as its profile has them, for their objects in a Kubernetes cluster.
import { listListeners } from '../../kernel/role/configured-listener.ts'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { searchSettings } from '../../kernel/settings/backing-service-settings.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { roleCallSettings } from '../../kernel/settings/role-call-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import {
  describeRoleListener,
  describeRoleUrls,
  hasRoleListener,
} from '../../shared/routing/render/kubernetes/separate-roles.ts'
import type { WorkloadRole } from '../../shared/routing/render/kubernetes/workloads.ts'
import { type RoutedService, routedServices } from '../../shared/routing/routed-services.ts'

/** Where documents are in a cluster of their own, several pods may serve a role. */
const max_pods = 4

/** Roles share the folder of the site, unless the profile admits them by their certificates. */
export function listClusterRoles(resolved: ResolvedSettings, roles: readonly RoleOutline[]): readonly WorkloadRole[] {
  const { roles: names } = getSettings(resolved, platformSettings)
  const { accept_certificates: isSeparate, urls } = getSettings(resolved, roleCallSettings)
  const workloads = routedServices.flatMap((service: RoutedService): WorkloadRole[] => {
    const role = roles.find(({ name }) => name === service.role && names.includes(name))
    return role ? [describeRole(service, role, resolved)] : []
  })
  return isSeparate ? workloads.map((workload) => separateRole(workload, { workloads, urls, roles })) : workloads
}

type ClusterPlan = {
  readonly workloads: readonly WorkloadRole[]
  /** Of roles outside of the cluster, by the profile. */
  readonly urls: Readonly<Record<string, string>>
  readonly roles: readonly RoleOutline[]
}

/** A listener with a certificate of its own keeps it. */
function separateRole({ role, ...workload }: WorkloadRole, { workloads, urls, roles }: ClusterPlan): WorkloadRole {
  const prefix = roles.find(({ name }) => name === role)?.listeners[0].env ?? ''
  const keepsListener = workload.hasTls && hasRoleListener(role)
  return {
    ...{ ...workload, role, isSeparate: true, max_pods: 1 },
    hasTls: workload.hasTls || hasRoleListener(role),
    env: {
      ...workload.env,
      ...(keepsListener ? {} : describeRoleListener(role, prefix)),
      ...describeRoleUrls(role, workloads, urls),
    },
  }
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
    isSeparate: false,
    max_pods: getSettings(resolved, searchSettings).host === undefined ? 1 : max_pods,
  }
}
