// The rules that can hold, in the order in which a server that takes the first that fits must have them.
import type { RoutingRule } from '../routing-table.ts'

/** `host`: undefined for requests to any host that no other entry names. */
export type HostRoutes = { readonly host: string | undefined; readonly rules: readonly RoutingRule[] }

/** Of rules with one host and prefix the one that holds; longer prefixes first. Hosts in order, any other host last. */
export function listEffectiveRoutes(rules: readonly RoutingRule[]): readonly HostRoutes[] {
  const byHost = new Map<string | undefined, Map<string, RoutingRule>>()
  for (const rule of rules) {
    const byPrefix = byHost.get(rule.host) ?? new Map<string, RoutingRule>()
    const present = byPrefix.get(rule.prefix)
    if (!present || rule.priority > present.priority) byPrefix.set(rule.prefix, rule)
    byHost.set(rule.host, byPrefix)
  }
  const hosts = [...byHost.keys()].filter((host) => host !== undefined).sort()
  return [...hosts, undefined].map((host) => ({
    host,
    rules: [...(byHost.get(host)?.values() ?? [])].sort(
      (one, other) => other.prefix.length - one.prefix.length || (one.prefix < other.prefix ? -1 : 1),
    ),
  }))
}

/** Prefixes with one answer. `service`: undefined where no process answers. */
export type RouteGroup = { readonly service: string | undefined; readonly prefixes: readonly string[] }

/**
 * The same rules in few groups, each to be tried after those before it: a prefix comes after all that are below it, and of the rules
 * that no such order binds, those with one answer come together.
 */
export function groupRoutes(rules: readonly RoutingRule[]): readonly RouteGroup[] {
  const groups = new Map<string, RouteGroup & { readonly level: number }>()
  const levels = new Map<string, number>()
  for (const { prefix, service, isServed } of rules) {
    // Longer prefixes come first, so the levels of all that are below this one are known.
    const below = [...levels].filter(([other]) => prefix === '/' || other.startsWith(`${prefix}/`))
    const level = Math.max(-1, ...below.map(([, each]) => each)) + 1
    levels.set(prefix, level)
    const key = `${level} ${isServed ? service : ''}`
    const prefixes = [...(groups.get(key)?.prefixes ?? []), prefix]
    groups.set(key, { level, service: isServed ? service : undefined, prefixes })
  }
  return [...groups.values()].sort((one, other) => one.level - other.level)
}
