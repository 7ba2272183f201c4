// The part that the wire of the edge supplies to its role.
import type { MemberState } from '../../kernel/forward/member-health.ts'
import { part } from '../../kernel/role/part.ts'

export type Backend = { readonly host: string; readonly port: number; readonly state: MemberState }

/** The processes of each service that requests are forwarded to. */
export type EdgeBackends = { list(): ReadonlyMap<string, readonly Backend[]> }

export const edgeBackendsPart = part<EdgeBackends>('edge-backends')
