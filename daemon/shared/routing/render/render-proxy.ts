// Common parts of the configurations of other proxies.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { RoutingRule } from '../routing-table.ts'
import type { ServiceBackends } from '../site-routing.ts'

export type ProxyRoutes = {
  readonly rules: readonly RoutingRule[]
  readonly backends: ServiceBackends
  /** `port` or `host:port`. */
  readonly address: string
}

/** Of the service, host and port of each process. */
export type ProxyUpstream = {
  readonly service: string
  readonly scheme: 'http' | 'https'
  readonly members: readonly string[]
}

/** Of the services that have rules. Refused where the processes of one have different schemes, which no such proxy can express. */
export function listUpstreams({ rules, backends }: ProxyRoutes): readonly ProxyUpstream[] | Refusal {
  const served = [...new Set(rules.filter(({ isServed }) => isServed).map(({ service }) => service))].sort()
  const upstreams: ProxyUpstream[] = []
  for (const service of served) {
    const urls = (backends.get(service) ?? []).map((url) => new URL(url))
    const [first] = urls
    if (!first || urls.some(({ protocol }) => protocol !== first.protocol))
      return refuse('invalid', `ingress.backends of ${service} must all be http, or all https`)
    const scheme = first.protocol === 'https:' ? 'https' : 'http'
    upstreams.push({ service, scheme, members: urls.map(({ host, port }) => addPort(host, port, scheme)) })
  }
  return upstreams
}

function addPort(host: string, port: string, scheme: ProxyUpstream['scheme']): string {
  return port === '' ? `${host}:${scheme === 'https' ? 443 : 80}` : host
}

/** Fields that a client could set to pass for a proxy before this one. */
export const dropped_fields = [
  ...['Forwarded', 'X-Forwarded-Port', 'X-Forwarded-Client-Cert', 'X-Real-IP', 'True-Client-IP', 'X-Client-IP'],
  ...['X-Cluster-Client-IP', 'Client-Cert', 'Client-Cert-Chain', 'X-Client-Cert', 'X-SSL-Client-Cert'],
  ...['X-Original-URL', 'X-Original-URI', 'X-Rewrite-URL', 'Proxy'],
] as const
