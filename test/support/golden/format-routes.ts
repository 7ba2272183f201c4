// The rules of a routing table, one a line: what a change of routing shows in review.
import type { RoutingRule } from '../../../daemon/shared/routing/routing-table.ts'

export function formatRoutes(rules: readonly RoutingRule[]): string {
  const lines = rules.map(
    ({ host, prefix, priority, service, ingress, isServed }) =>
      `${host ?? '*'} ${prefix} ${priority} ${service} ${ingress}${isServed ? '' : ' no_backend'}`,
  )
  return `${lines.join('\n')}\n`
}
