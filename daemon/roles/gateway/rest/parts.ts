// The part by which REST requests find the owners of paths, and their processes, as they are now.
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
