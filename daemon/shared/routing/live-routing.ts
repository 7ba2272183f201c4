// The routing of a site as it is now: that of its profile, and the services that are registered with its gateway.
import type { RegisteredRouting } from '../service-registry/registered-service.ts'
import { type FindRoute, indexRoutes } from './find-route.ts'
import { buildRoutingTable, type RoutingOptions } from './routing-table.ts'
import type { ServiceBackends } from './site-routing.ts'

export class LiveRouting {
  readonly #options: RoutingOptions
  readonly #backends: ServiceBackends
  #find: FindRoute
  #registered = ''

  /** `backends`: of the profile, before those of registrations. */
  constructor(options: RoutingOptions, backends: ServiceBackends) {
    this.#options = options
    this.#backends = backends
    this.#find = indexRoutes(buildRoutingTable(options))
  }

  readonly findRoute: FindRoute = (host, path) => this.#find(host, path)

  /** The processes of all services where they, or the rules, differ from before; undefined where nothing does. */
  replaceRegistered({ owners, backends }: RegisteredRouting): ServiceBackends | undefined {
    const registered = JSON.stringify([owners, [...backends]])
    if (registered === this.#registered) return undefined
    this.#registered = registered
    const all = new Map([...backends, ...this.#backends])
    this.#find = indexRoutes(buildRoutingTable({ ...this.#options, registered: owners, served: new Set(all.keys()) }))
    return all
  }
}
