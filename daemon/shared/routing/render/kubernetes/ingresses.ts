// The rules as ingresses (networking.k8s.io/v1), one for each ingress of the table.
import { routedServices } from '../../routed-services.ts'
import type { RoutingRule } from '../../routing-table.ts'
import { describeObject, type IngressOptions, type KubernetesObject } from './kubernetes-object.ts'

/** Rules of absent services are among them: without these, their paths would go to the catch-all. */
export function renderIngresses(rules: readonly RoutingRule[], options: IngressOptions): readonly KubernetesObject[] {
  const byIngress = Map.groupBy(rules, ({ ingress }) => ingress)
  return [...byIngress].map(([name, own]) => renderIngress(name, own, options))
}

/** A Service of the namespace. */
export type IngressBackend = { readonly name: string; readonly port: number }

/**
 * All rules of one ingress have one service and one priority, which the annotation of an ingress can express. `backend`: of a
 * service that is not of this table.
 */
export function renderIngress(
  name: string,
  rules: readonly RoutingRule[],
  options: IngressOptions,
  backend?: IngressBackend,
): KubernetesObject {
  const [{ priority, service }] = rules as [RoutingRule, ...RoutingRule[]]
  const { namespace, ingress_class, priority_annotation } = options
  const reached = backend ?? { name: service, port: findServicePort(service) }
  const byHost = Map.groupBy(rules, ({ host }) => host)
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      ...describeObject(namespace, name, service),
      annotations: { [priority_annotation]: String(priority) },
    },
    spec: {
      ...(ingress_class === undefined ? {} : { ingressClassName: ingress_class }),
      rules: [...byHost].map(([host, own]) => ({
        ...(host === undefined ? {} : { host }),
        http: { paths: own.map(({ prefix }) => renderPath(prefix, reached)) },
      })),
    },
  }
}

function renderPath(path: string, { name, port }: IngressBackend) {
  return { path, pathType: 'Prefix', backend: { service: { name, port: { number: port } } } }
}

/** Throws for a service that is not of this table: the gateway keeps the ingresses of those that register. */
export function findServicePort(service: string): number {
  const found = routedServices.find(({ name }) => name === service)
  if (!found) throw new TypeError(`${service} is not a routed service`)
  return found.port
}
