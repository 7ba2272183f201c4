// The rules as ingresses (networking.k8s.io/v1), one for each ingress of the table.
import { routedServices } from '../../routed-services.ts'
import type { RoutingRule } from '../../routing-table.ts'
import { describeObject, type IngressOptions, type KubernetesObject } from './kubernetes-object.ts'

/**
 * Rules of absent services are among them: without these, their paths would go to the catch-all. Controllers that rank by
 * priority alone, such as Traefik, do not prefer the longer of two prefixes: a prefix below that of another ingress with the same
 * priority is in an ingress of its own, with a higher one.
 */
export function renderIngresses(rules: readonly RoutingRule[], options: IngressOptions): readonly KubernetesObject[] {
  const known = new Map(rules.map((rule) => [keyOf(rule, rule.prefix), rule.ingress]))
  const byIngress = Map.groupBy(rules, (rule) => nameIngress(rule.ingress, countAncestors(rule, known)))
  return [...byIngress].map(([name, own]) => {
    const [first] = own as [RoutingRule, ...RoutingRule[]]
    const priority = first.priority + countAncestors(first, known)
    return renderIngress(name, priority === first.priority ? own : own.map((rule) => ({ ...rule, priority })), options)
  })
}

const keyOf = ({ host = '', priority }: RoutingRule, prefix: string) => `${host} ${priority} ${prefix}`
const nameIngress = (ingress: string, ancestors: number) =>
  ancestors === 0 ? ingress : `${ingress}-nested-${ancestors}`

/** Prefixes above that of the rule which other ingresses have, at its host and priority. */
function countAncestors(rule: RoutingRule, known: ReadonlyMap<string, string>): number {
  const segments = rule.prefix.split('/').slice(1)
  const above = segments.map((_, at) => `/${segments.slice(0, at).join('/')}`)
  return above.filter((prefix) => {
    const ingress = prefix === rule.prefix ? undefined : known.get(keyOf(rule, prefix))
    return ingress !== undefined && ingress !== rule.ingress
  }).length
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
