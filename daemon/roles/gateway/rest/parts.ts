// What the forwarding of REST requests takes from the wire: the owners of paths now, and their processes.
import type { Upstream } from '../../../kernel/forward/upstream.ts'
import { part } from '../../../kernel/role/part.ts'
import type { FindRoute } from '../../../shared/routing/find-route.ts'
import type { RegisteredRouting } from '../../../shared/service-registry/registered-service.ts'

export type OwnerRoutes = {
  /** False: the gateway is not in the path of REST. */
  readonly isForwarding: boolean
  readonly findRoute: FindRoute
  findUpstream(service: string): Upstream | undefined
  replaceRegistered(registered: RegisteredRouting): void
}

export const ownerRoutesPart = part<OwnerRoutes>('owner-routes')
