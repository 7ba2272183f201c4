// The ingresses of registered services: those rules of the table that no chart has, as objects with the mark of the gateway.
import { canonicalDigest } from '../../../../kernel/encoding/canonical-json.ts'
import { routedServices } from '../../routed-services.ts'
import { managedIngressName, type RegisteredOwner, type RoutingRule } from '../../routing-table.ts'
import type { ServiceBackends } from '../../site-routing.ts'
import { findServicePort, type IngressBackend, renderIngress } from './ingresses.ts'
import type { IngressOptions, KubernetesObject } from './kubernetes-object.ts'
import { type ClusterPlace, findIngressBackend } from './service-address.ts'

export type ManagedIngressOptions = IngressOptions & ClusterPlace & { readonly site: string }

export type ManagedIngress = {
  readonly name: string
  /** The registered one. */
  readonly service: string
  readonly priority: number
  /** Number of paths. */
  readonly paths: number
  readonly target: ManagedIngressTarget | { readonly reason: string }
}

export type ManagedIngressTarget = {
  readonly object: KubernetesObject
  /** The Service of the namespace, with its port. */
  readonly backend: string
  readonly sha256: string
}

/**
 * A computation in steps: of the most objects that there may be, it takes a tenth of a second. `urls`: of the processes of each
 * service, as routing takes them. A service whose objects all have other owners has no ingress.
 */
export function* renderManagedIngresses(
  rules: readonly RoutingRule[],
  owners: readonly RegisteredOwner[],
  urls: ServiceBackends,
  options: ManagedIngressOptions,
): Generator<undefined, readonly ManagedIngress[], undefined> {
  const byIngress = Map.groupBy(rules, ({ ingress }) => ingress)
  const ingresses: ManagedIngress[] = []
  for (const { name: service } of owners) {
    const name = managedIngressName(service)
    const own = byIngress.get(name) ?? []
    const [first] = own
    if (!first) continue
    const target = renderTarget(name, own, findBackend(first.service, urls, options), options)
    ingresses.push({ name, service, priority: first.priority, paths: own.length, target })
    yield
  }
  return ingresses
}

/** Those of the table have a Service under their name. */
function findBackend(service: string, urls: ServiceBackends, place: ClusterPlace) {
  if (routedServices.some(({ name }) => name === service)) return { name: service, port: findServicePort(service) }
  const found = (urls.get(service) ?? []).map((url) => findIngressBackend(url, place))
  return found.find((each) => 'port' in each) ?? found[0] ?? { reason: 'it has no URL' }
}

function renderTarget(
  name: string,
  rules: readonly RoutingRule[],
  backend: IngressBackend | { readonly reason: string },
  options: ManagedIngressOptions,
): ManagedIngress['target'] {
  if ('reason' in backend) return backend
  const { metadata, ...rest } = renderIngress(name, rules, options, backend)
  const object = { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...ingressMark(options.site) } } }
  return { object, backend: `${backend.name}:${backend.port}`, sha256: digestIngress(object, options) }
}

/** Labels by which a gateway knows its own ingresses: of one namespace, each site has others. */
export function ingressMark(site: string): Readonly<Record<string, string>> {
  // A label ends with a letter or digit, and the name of a site may not.
  return {
    'app.kubernetes.io/managed-by': 'platform-gateway',
    'app.kubernetes.io/instance': site.replace(/-+$/, ''),
  }
}

type IngressContent = {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>> | undefined
    readonly annotations?: Readonly<Record<string, string>> | undefined
  }
  readonly spec?: unknown
}

/**
 * Of what the gateway decides: the rules, the class where the profile has one, the annotation of the priority and the labels.
 * Further labels and annotations belong to those who set them.
 */
export function digestIngress(
  { metadata, spec }: IngressContent,
  {
    ingress_class,
    priority_annotation,
    site,
  }: Pick<ManagedIngressOptions, 'ingress_class' | 'priority_annotation' | 'site'>,
): string {
  const { ingressClassName, ...rest } = (spec ?? {}) as Record<string, unknown>
  const kept = [...Object.keys(ingressMark(site)), 'app.kubernetes.io/name', 'app.kubernetes.io/part-of']
  return canonicalDigest({
    spec: rest,
    class: ingress_class === undefined ? null : (ingressClassName ?? null),
    priority: metadata.annotations?.[priority_annotation] ?? null,
    labels: kept.map((key) => metadata.labels?.[key] ?? null),
  })
}
