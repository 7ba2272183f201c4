// The rules by which requests reach services, from what a site has: one table for the edge, for clusters and for other proxies.
import {
  agentspace_host,
  agentspacePaths,
  catch_all_prefixes,
  object_prefixes,
  objectsOfDataPlatform,
  public_prefix,
  type RoutedService,
  type RoutedServiceName,
  routedServices,
} from './routed-services.ts'

export type RoutingRule = {
  /** Name of the ingress that has the rule in a cluster. */
  readonly ingress: string
  /** Undefined: any host that no other rule names. */
  readonly host: string | undefined
  /** `/`, or a path without a slash at its end. Holds for itself and for what is below it. */
  readonly prefix: string
  /** Of two rules with one prefix, the higher one holds. */
  readonly priority: number
  readonly service: string
  /** False: no process of the service is known; the answer is `no_backend`. */
  readonly isServed: boolean
}

/** Priorities of document 000. */
export const rulePriorities = { own: 100, fallback: 10, gateway: 200 } as const

/** A service beyond `routedServices` that is registered with the gateway, or one of them with further objects. */
export type RegisteredOwner = { readonly name: string; readonly objects: readonly string[] }

export type RoutingOptions = {
  /** Names of the services that have a process. */
  readonly served: ReadonlySet<string>
  readonly registered: readonly RegisteredOwner[]
  readonly hasRest: boolean
  /** Of the rules of objects. */
  readonly rest_priority: number
  /** REST requests take one hop more, through the gateway. */
  readonly isGatewayInPath: boolean
  /** Whether the gateway serves tools and chat. */
  readonly hasGatewayAgentspace: boolean
  /** Objects of a service instead of those that it has by default. */
  readonly objects: Readonly<Record<string, readonly string[]>>
  /** Host names, each with the service that has all of its paths, such as the edge of another site. */
  readonly hosts: Readonly<Record<string, string>>
}

export const defaultRouting: Omit<RoutingOptions, 'served'> = {
  registered: [],
  hasRest: true,
  rest_priority: rulePriorities.own,
  isGatewayInPath: false,
  hasGatewayAgentspace: true,
  objects: {},
  hosts: {},
}

type RuleTarget = Pick<RoutingRule, 'ingress' | 'priority'> & { readonly service: string }

/** In the order of services; the rules of one service begin with its objects. No two rules have host, prefix and priority in common. */
export function buildRoutingTable(options: RoutingOptions): readonly RoutingRule[] {
  const rules = new Map<string, RoutingRule>()
  const add = (prefix: string, { ingress, priority, service }: RuleTarget, host?: string) => {
    const key = `${priority} ${host ?? ''} ${prefix}`
    const isServed = options.served.has(service)
    if (!rules.has(key)) rules.set(key, { ingress, host, prefix, priority, service, isServed })
  }
  addAgentspace(options, add)
  addHosts(options, add)
  add(public_prefix, own('public-proxy'))
  if (options.hasRest) {
    for (const service of routedServices) addService(service, options, add)
    addRegistered(options, new Set([...rules.values()].map(({ prefix }) => prefix)), add)
    addCatchAll(add)
    if (options.isGatewayInPath) addGatewayRest([...rules.values()], add)
  }
  return [...rules.values()]
}

type AddRule = (prefix: string, target: RuleTarget, host?: string) => void

function own(service: RoutedServiceName, priority: number = rulePriorities.own): RuleTarget {
  return { ingress: `${service}-rest`, priority, service }
}

/** Exactly one of the rules of a host and path holds: that of the gateway exists only where the gateway does. */
function addAgentspace({ served, hasGatewayAgentspace }: RoutingOptions, add: AddRule): void {
  const both = (target: RuleTarget) => {
    add('/', target, agentspace_host)
    for (const path of agentspacePaths) add(path, target)
  }
  const ingress = (service: RoutedServiceName) => ({ ingress: `${service}-agentspace`, service })
  if (hasGatewayAgentspace && served.has('gateway')) both({ ...ingress('gateway'), priority: rulePriorities.own })
  both({ ...ingress('intelligence-service'), priority: rulePriorities.fallback })
}

/** Ends the names of the ingresses of hosts, and of no others. */
const host_ingress_suffix = '-host'

/** The prefix of requests without identity has a rule of its own, as it has on every other host. */
function addHosts({ hosts }: RoutingOptions, add: AddRule): void {
  for (const [host, service] of Object.entries(hosts).sort(([one], [other]) => (one < other ? -1 : 1)))
    for (const prefix of ['/', public_prefix])
      add(prefix, { ingress: `${service}${host_ingress_suffix}`, priority: rulePriorities.own, service }, host)
}

/** Of a host that belongs to a service as a whole. */
export function isHostRule({ ingress }: RoutingRule): boolean {
  return ingress.endsWith(host_ingress_suffix)
}

function addService(service: RoutedService, options: RoutingOptions, add: AddRule): void {
  const { served, objects, rest_priority } = options
  const name = service.name as RoutedServiceName
  for (const object of objects[name] ?? service.objects) {
    const isOfDataPlatform = objectsOfDataPlatform.has(object) && !served.has(name)
    const owner = isOfDataPlatform ? 'data-platform-service' : name
    for (const prefix of object_prefixes) add(`${prefix}/${object}`, own(owner, rest_priority))
  }
  for (const path of service.paths) add(path, own(name, rest_priority))
}

/**
 * An object that a rule of the table has already stays with its owner. One ingress has one priority: with the gateway in the
 * path, its rules are in that ingress, and those of the service would never hold.
 */
function addRegistered(options: RoutingOptions, taken: ReadonlySet<string>, add: AddRule): void {
  const { registered, rest_priority, isGatewayInPath } = options
  for (const { name, objects } of registered) {
    const ingress = managedIngressName(name)
    const target: RuleTarget = isGatewayInPath
      ? { ingress, priority: rulePriorities.gateway, service: 'gateway' }
      : { ingress, priority: rest_priority, service: name }
    for (const object of objects)
      for (const prefix of object_prefixes) if (!taken.has(`${prefix}/${object}`)) add(`${prefix}/${object}`, target)
  }
}

/** Begins the names of the ingresses that the gateway keeps, and of no others. */
export const managed_ingress_prefix = 'gateway-managed-'

/** Of the ingress that the gateway keeps for a registered service. */
export function managedIngressName(service: string): string {
  return `${managed_ingress_prefix}${service}-rest`
}

function addCatchAll(add: AddRule): void {
  for (const prefix of catch_all_prefixes)
    add(prefix, {
      ingress: 'data-platform-service-catch-all',
      priority: rulePriorities.fallback,
      service: 'data-platform-service',
    })
}

/** For every prefix and not for the three alone: they must hold too where the longest prefix counts before the priority. */
function addGatewayRest(rules: readonly RoutingRule[], add: AddRule): void {
  const target = { ingress: 'gateway-rest-mode', priority: rulePriorities.gateway, service: 'gateway' }
  for (const { host, prefix } of rules) if (host === undefined && isRestPath(prefix)) add(prefix, target)
}

/** Of objects and what belongs to the catch-all: what the gateway may be in the path of. */
export function isRestPath(path: string): boolean {
  return catch_all_prefixes.some((each) => path === each || path.startsWith(`${each}/`))
}
