// Sites of several kinds, as their objects in a cluster are rendered.
import { roles } from '../../../daemon/roles.ts'
import type { KubernetesOptions } from '../../../daemon/shared/routing/render/kubernetes/kubernetes-object.ts'
import {
  describeRoleListener,
  describeRoleUrls,
  hasRoleListener,
} from '../../../daemon/shared/routing/render/kubernetes/separate-roles.ts'
import type { WorkloadRole } from '../../../daemon/shared/routing/render/kubernetes/workloads.ts'
import { type RoutedService, routedServices } from '../../../daemon/shared/routing/routed-services.ts'
import { buildRoutingTable, defaultRouting, type RoutingRule } from '../../../daemon/shared/routing/routing-table.ts'

export type ClusterSite = {
  readonly name: string
  readonly rules: readonly RoutingRule[]
  readonly roles: readonly WorkloadRole[]
  readonly options: KubernetesOptions
}

export const kubernetesOptions: KubernetesOptions = {
  namespace: 'platform',
  ingress_class: 'traefik',
  priority_annotation: 'traefik.ingress.kubernetes.io/router.priority',
  image: 'registry.example/platform:1.0.0',
}

export function workloadRole(service: RoutedService, more: Partial<WorkloadRole> = {}): WorkloadRole {
  const { name, role = '', port } = service
  return {
    ...{ role, service: name, port, container_port: port, hasTls: false, max_pods: 4, isSeparate: false },
    ...{ env: { [`${environmentPrefix(role)}_HOST`]: '0.0.0.0' }, extra_memory_mb: role === 'proxy' ? 100 : 0 },
    ...more,
  }
}

/** As the profile has them with `role_calls.accept_certificates`. */
export function separateRoles(services: readonly RoutedService[], hasTls = false): readonly WorkloadRole[] {
  const placed = services.map((service) => workloadRole(service))
  return placed.map(({ role, env, ...workload }) => ({
    ...{ ...workload, role, isSeparate: true, max_pods: 1, hasTls: hasTls || hasRoleListener(role) },
    env: {
      ...env,
      ...describeRoleListener(role, environmentPrefix(role)),
      ...describeRoleUrls(role, placed),
    },
  }))
}

/** With which the variables of a role begin. */
export function environmentPrefix(role: string): string {
  return roles.find(({ name }) => name === role)?.listeners[0].env ?? role.toUpperCase()
}

const ofThisExecutable: readonly RoutedService[] = routedServices.filter((service) => 'role' in service)
const every = routedServices.map(({ name }) => name as string)
const build = (served: readonly string[], isGatewayInPath = false) =>
  buildRoutingTable({ ...defaultRouting, served: new Set(served), isGatewayInPath })

export const clusterSites: readonly ClusterSite[] = [
  {
    name: 'every service',
    rules: build(every),
    roles: ofThisExecutable.map((service) => workloadRole(service)),
    options: kubernetesOptions,
  },
  {
    name: 'the gateway in the path of REST, documents in files',
    rules: build(every, true),
    roles: ofThisExecutable.map((service) => workloadRole(service, { max_pods: 1, hasTls: true, env: {} })),
    options: { ...kubernetesOptions, ingress_class: undefined },
  },
  {
    name: 'roles that share no folder',
    rules: build(every),
    roles: separateRoles(ofThisExecutable),
    options: kubernetesOptions,
  },
  {
    name: 'two roles',
    rules: build(['consensus-service', 'site-service']),
    roles: ofThisExecutable
      .filter(({ role }) => role === 'consensus' || role === 'site')
      .map((each) => workloadRole(each)),
    options: kubernetesOptions,
  },
]
