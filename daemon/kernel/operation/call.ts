// One call of an operation or a worker: its access to everything outside its own rules.

import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Refusal } from '../error/errors.ts'
import type { Delegation, StoredPrincipal, WorkPlace } from '../identity/delegation.ts'
import type { Caller } from '../identity/identity.ts'
import type { StoredWorkTerms } from '../identity/resolve-stored-caller.ts'
import type { Clearance, Label } from '../label/label.ts'
import type { ScopedStore } from '../store/scoped-store.ts'
import type { Collection, StoredFields } from '../store/store.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { ToolClient } from '../tools/client-input.ts'
import type { ToolProgress } from '../tools/tool-service.ts'
import type { AddressedOperation, SurfaceName } from './operation.ts'
import type { RoleClients } from './operation-contract.ts'
import type { RoleEnvironment } from './role-environment.ts'
import type { SurfaceTools } from './surface-tools.ts'

/** The exact bytes of a signed body. Header names are in lower case. */
export type SignedBody = {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** Parses the bytes; refuses `malformed` and `invalid`. Call it after the signature was verified. */
  readonly parse: () => unknown | Refusal
}

/** The object of a call: an audit record of its refusal names it, with `detail`, to auditors of its label. */
export type CallTarget = {
  readonly id: string
  readonly label?: Label | undefined
  readonly detail?: Readonly<Record<string, unknown>>
}

/** A party that the profile names, such as a folder: it acts without a credential, in one tenant and under one clearance. */
export type ConfinedParty = Required<Pick<Caller, 'subject' | 'tenant_id'>> & { readonly clearance: Clearance }

/** The tenant of stored work, and the permission that its principal must still have. */
export type StoredCallTerms = Pick<StoredWorkTerms, 'tenant_id' | 'allow'>

export interface Call extends RoleEnvironment {
  readonly caller: Caller
  /** The operation's or worker's address. */
  readonly address: string
  readonly trace: Trace
  readonly roles: RoleClients
  readonly signal: AbortSignal
  /** Media types that the client accepts, best first; empty: any. */
  readonly accepts: readonly string[]
  readonly last_event_id: string | undefined
  readonly if_match: number | undefined
  /** The whole Authorization header. Never log or store it. */
  readonly authorization: string | undefined
  readonly idempotency_key: string | undefined
  /** From which the tool that this call performs may request input; undefined: from no client. */
  readonly client: ToolClient | undefined
  /** Set for an operation that is declared `signed`. */
  readonly signed_body: SignedBody | undefined
  /** Digest of the whole input: distinguishes a repeat from another request under the same idempotency key. */
  requestDigest(): string
  nowIso(): string
  /** `<prefix>_<32 hex>`: random, or derived from (tenant, subject, key) when the client gave an Idempotency-Key. */
  newId(prefix: string): string
  store<T extends StoredFields>(collection: Collection<T>): ScopedStore<T>
  /**
   * Operations of this role that the surface serves as tools, performed for the caller: for a conversation with a model.
   * `others`: instead of the operations of the role, those that it offers for other services.
   */
  tools(surface: SurfaceName, others?: readonly AddressedOperation[]): SurfaceTools
  /** Acts in the name of the caller. */
  delegation(): Delegation
  /** Acts in the name of the principal of stored work; `work`: the place where the store has it, never what a document says. */
  delegation(stored: StoredPrincipal, work: WorkPlace): Delegation
  /**
   * A call in the name of the principal of stored work, with its rights of now: what it may read, and what it may still do.
   * `forbidden` with the reason where it may not. Throws `Refusal('unavailable')` while `site` cannot be reached.
   */
  openCallOf(stored: StoredPrincipal, work: WorkPlace, terms: StoredCallTerms): Promise<Call | Refusal>
  /** A call in the name of a party of the profile, with the rights of no role. Throws unless this call is of a service of the site. */
  openConfinedCall(party: ConfinedParty): Call
  /** Reports to a client that follows the call of a tool; to no other. */
  reportProgress(progress: ToolProgress): void
  /** An audit record with subject, tenant, time and trace filled in. */
  audited(action: string, target: string, detail: Readonly<Record<string, unknown>>, label?: Label): AuditEvent
  /** Names the object of this call, or more of it, once it is verified. */
  nameTarget(target: Partial<CallTarget>): void
  /** Appends audit events that belong to no write; durable when it resolves. */
  record(events: readonly AuditEvent[]): Promise<void>
}
