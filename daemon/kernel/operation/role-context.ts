// The context in which boot runs the calls of a role, and the form of a request and its response.
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { DelegatingCredential, Delegation } from '../identity/delegation.ts'
import type { IdentityProvider } from '../identity/identity.ts'
import type { Store } from '../store/store.ts'
import type { ReportThrottle } from '../telemetry/report-throttle.ts'
import type { SpanRecorder } from '../telemetry/spans.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { ToolClient } from '../tools/client-input.ts'
import type { ToolProgress } from '../tools/tool-service.ts'
import type { SignedBody } from './call.ts'
import type { AddressedOperation, SurfaceName } from './operation.ts'
import type { RoleClients } from './operation-contract.ts'
import type { RoleEnvironment } from './role-environment.ts'

/** A request, independent of the protocol that brought it. */
export type OperationRequest = {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly body: unknown
  /**
   * The surface that the request came through, and the whole input as one object: a surface has no paths and queries.
   * Params, query and body are then empty.
   */
  readonly through?: { readonly surface: SurfaceName; readonly fields: Readonly<Record<string, unknown>> }
  readonly accepts: readonly string[]
  readonly if_match: number | undefined
  readonly idempotency_key: string | undefined
  readonly last_event_id: string | undefined
  readonly trace: Trace
  readonly signal: AbortSignal
  /** The whole Authorization header, for the operations that authenticate clients rather than tokens. */
  readonly authorization?: string | undefined
  readonly signed_body?: SignedBody | undefined
  /** Receives what the operation reports while it runs, from a client that follows the call. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined
  readonly client?: ToolClient | undefined
  /** How the caller was identified, for `Call.delegation` alone. */
  readonly credential?: DelegatingCredential | undefined
}

export type OperationResponse = { readonly status: number; readonly body: unknown; readonly version?: number }

/** Addresses by the name of the requesting role. */
export type RoleCalls = ReadonlyMap<string, ReadonlySet<string>>

/** Everything that boot supplies to run the calls of a role. */
export type RoleContext = {
  readonly environment: RoleEnvironment
  /** Every operation of the role, the same list each time. */
  readonly operations: readonly AddressedOperation[]
  /** Clients of other roles for one call; their requests go out in its trace, and end once it has ended. */
  readonly roles: (trace: Trace, end?: AbortSignal) => RoleClients
  /** Acts in the name of the principal that the credential identifies, until the call has ended. */
  readonly delegation: (trace: Trace, credential: DelegatingCredential | undefined, end?: AbortSignal) => Delegation
  readonly identity: IdentityProvider
  /** Role name to permissions, the profile's additions included. */
  readonly role_table: Readonly<Record<string, readonly string[]>>
  /** Addresses of the operations that each role of the site may request in its own name. */
  readonly role_calls: RoleCalls
  /** Addresses of this role that each role of the site may request besides, but only in the name of a principal. */
  readonly delegated_calls: RoleCalls
  readonly store: Store
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  /** Limits log lines that callers can cause. */
  readonly throttle: ReportThrottle
  /** Records the spans of finished work; undefined: no spans. */
  readonly spans?: SpanRecorder | undefined
  /** The only tenant that the role serves; undefined: all. */
  readonly only_tenant?: string | undefined
}
