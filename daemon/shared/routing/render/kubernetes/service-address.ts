// Which Service of a namespace a URL leads to: an Ingress has no other backends.
import type { IngressBackend } from './ingresses.ts'

export type ClusterPlace = {
  readonly namespace: string
  /** Domain of the names of Services, such as `cluster.local`. */
  readonly cluster_domain: string
}

/** A label of RFC 1035, as Kubernetes requires it of the names of Services. */
const serviceLabel = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * By the names that the DNS of a cluster gives to a Service, and `<service>.<domain>` of document 000. Otherwise the reason: an
 * address, a name outside of the cluster, or a Service of another namespace.
 */
export function findIngressBackend(
  url: string,
  { namespace, cluster_domain }: ClusterPlace,
): IngressBackend | { readonly reason: string } {
  const { protocol, hostname, port } = new URL(url)
  const [name = '', ...rest] = hostname.replace(/\.$/, '').split('.')
  const where = rest.join('.')
  const own = ['', namespace, `${namespace}.svc`, `${namespace}.svc.${cluster_domain}`, cluster_domain]
  if (serviceLabel.test(name) && name !== 'localhost' && own.includes(where))
    return { name, port: Number(port || (protocol === 'https:' ? 443 : 80)) }
  const other = findOtherNamespace(where, cluster_domain)
  if (other !== undefined)
    return { reason: `its URL is a Service of namespace ${other}; an Ingress reaches those of ${namespace} alone` }
  return {
    reason: `its URL is not the name of a Service of namespace ${namespace}, which an Ingress needs; register it by one, or set ingress.rest_gateway.enabled`,
  }
}

function findOtherNamespace(where: string, cluster_domain: string): string | undefined {
  const [namespace, service, ...domain] = where.split('.')
  const isOfCluster = service === 'svc' && (domain.length === 0 || domain.join('.') === cluster_domain)
  return isOfCluster ? namespace : undefined
}
