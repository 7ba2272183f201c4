// The routing table as objects of a Kubernetes cluster.
import type { RoutingRule } from '../../routing-table.ts'
import { findServicePort, renderIngresses } from './ingresses.ts'
import type { KubernetesObject, KubernetesOptions } from './kubernetes-object.ts'
import { renderAbsentService, renderWorkload, type WorkloadRole } from './workloads.ts'

/**
 * Ingresses of every rule, the roles of this executable that run in the cluster, and Services of the absent ones. A service
 * that other software serves has a Service of its own, under the name that the rules have.
 */
export function renderKubernetes(
  rules: readonly RoutingRule[],
  roles: readonly WorkloadRole[],
  options: KubernetesOptions,
): readonly KubernetesObject[] {
  const absent = new Set(rules.filter(({ isServed }) => !isServed).map(({ service }) => service))
  return [
    ...roles.flatMap((role) => renderWorkload(role, options)),
    ...[...absent].sort().map((service) => renderAbsentService(service, findServicePort(service), options)),
    ...renderIngresses(rules, options),
  ]
}
