// Parts that the wire of the edge supplies to its role.
import type { MemberState } from '../../kernel/forward/member-health.ts'
import { part } from '../../kernel/role/part.ts'
import type { RegisteredRouting, RegisteredService } from '../../shared/service-registry/registered-service.ts'

export type Backend = { readonly host: string; readonly port: number; readonly state: MemberState }

/** The processes of each service that requests are forwarded to. */
export type EdgeBackends = { list(): ReadonlyMap<string, readonly Backend[]> }

export const edgeBackendsPart = part<EdgeBackends>('edge-backends')

/** The routes to services that are registered with the gateway. */
export type EdgeRoutes = {
  /** As the gateway listed them last. */
  registered: readonly RegisteredService[]
  replaceRegistered(routing: RegisteredRouting): void
}

export const edgeRoutesPart = part<EdgeRoutes>('edge-routes')
