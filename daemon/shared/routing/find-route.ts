// Finds the rule of a request: the rules of its host, the longest prefix among them, the highest priority for that prefix.
import type { RoutingRule } from './routing-table.ts'

/** `host`: in lower case, without port; `path`: in its normal form, without query. Undefined: no rule has the path. */
export type FindRoute = (host: string, path: string) => RoutingRule | undefined

/** A lookup costs as many steps as the longest prefix has segments, however many rules there are. */
export function indexRoutes(rules: readonly RoutingRule[]): FindRoute {
  const rulesByHost = new Map<string | undefined, HostRules>()
  for (const rule of rules) {
    const hostRules = rulesByHost.get(rule.host) ?? { byPrefix: new Map(), longest: 0 }
    const present = hostRules.byPrefix.get(rule.prefix)
    if (!present || rule.priority > present.priority) hostRules.byPrefix.set(rule.prefix, rule)
    rulesByHost.set(rule.host, { ...hostRules, longest: Math.max(hostRules.longest, rule.prefix.length) })
  }
  return (host, path) => {
    const hostRules = rulesByHost.get(host) ?? rulesByHost.get(undefined)
    return hostRules && findLongestPrefix(hostRules, path)
  }
}

type HostRules = { readonly byPrefix: Map<string, RoutingRule>; readonly longest: number }

function findLongestPrefix({ byPrefix, longest }: HostRules, path: string): RoutingRule | undefined {
  // A path of a caller may have thousands of segments; none beyond the longest prefix is looked at.
  let end = path.length <= longest ? path.length : path.lastIndexOf('/', longest)
  while (end > 0) {
    const rule = byPrefix.get(path.slice(0, end))
    if (rule) return rule
    end = path.lastIndexOf('/', end - 1)
  }
  return byPrefix.get('/')
}
