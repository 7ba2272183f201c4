// Finds the service of a request by the routing table, and the target that it receives.
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import { normaliseTarget } from '../../kernel/forward/normal-target.ts'
import type { FindRoute } from '../routing/find-route.ts'
import { public_prefix } from '../routing/routed-services.ts'

/** `path`: in its normal form, without query. `isPublic`: of the prefix whose requests carry no identity. */
export type RoutedTarget = {
  readonly service: string
  readonly path: string
  readonly query: string
  readonly isPublic: boolean
}

/** `host`: the header. `target`: a path with a slash at its beginning, as the client wrote it. */
export function routeRequest(findRoute: FindRoute, host: string, target: string): RoutedTarget | Refusal {
  const normal = normaliseTarget(target, 0)
  if ('denied' in normal) return refuse('malformed', `servers could read this path differently: ${normal.denied}`)
  const rule = findRoute(readHostName(host), normal.path)
  if (!rule) return refuse('not_found', 'no service owns this path')
  if (!rule.isServed) return refuse('no_backend', `${rule.service} is not available at this site`)
  return { service: rule.service, ...normal, isPublic: rule.prefix === public_prefix }
}

/** The one header of this name; undefined where a request of HTTP/1.0 has none. */
export function readHostHeader(rawHeaders: readonly string[]): string | undefined {
  const at = rawHeaders.findIndex((name, position) => position % 2 === 0 && name.toLowerCase() === 'host')
  return at < 0 ? undefined : rawHeaders[at + 1]
}

/** In lower case, without port and without the dot of an absolute name. */
export function readHostName(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, '')
  return name.endsWith('.') ? name.slice(0, -1) : name
}
