// What an operation or a worker may reach: everything outside its own reasoning comes through here.

import type { StatusEvent } from '../../shared/coalition/hub-protocol.ts'
import type { MatchSession, SessionRuling } from '../../shared/match-session/match-session.ts'
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Jws, PublicKey, SignatureType, VerifiedPayload } from '../cryptography/signatures.ts'
import type { Refusal } from '../error/errors.ts'
import type { Caller } from '../identity/identity.ts'
import type { Label, LabelPolicy } from '../label/label.ts'
import type { LabelMap } from '../label/label-map.ts'
import type { OutboundMessage } from '../messaging/transport.ts'
import type { SettingsBlock, SettingValues } from '../settings/settings.ts'
import type { ScopedStore } from '../store/scoped-store.ts'
import type { Collection, StoredFields } from '../store/store.ts'
import type { Metric, MetricLabels } from '../telemetry/metrics.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { AnyOperation } from './operation.ts'

/** A log line is an event with fields, named by address; never a sentence with values in it. */
export interface Log {
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void
  info(event: string, fields?: Readonly<Record<string, unknown>>): void
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void
  error(event: string, fields?: Readonly<Record<string, unknown>>): void
}

/** What the site is, as far as any role may know. */
export type Site = {
  readonly name: string
  readonly tenant_id: string
  readonly deployment_profile: DeploymentProfile
  readonly labels: LabelPolicy
  /** Label of things made without one. */
  readonly default_level: string
}

export const deploymentProfiles = [
  'single_cluster',
  'multi_tenant_cloud',
  'customer_onprem',
  'coalition_federated',
  'classified_airgapped',
] as const
export type DeploymentProfile = (typeof deploymentProfiles)[number]

/** The parts that boot supplies to every call of a role; the same for all its calls. */
export interface RoleEnvironment {
  readonly site: Site
  readonly log: Log
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds of a clock that never jumps, for durations. */
  monotonic(): number
  /** `bytes` random bytes as lower-case hexadecimal. */
  random(bytes: number): string
  settings<B extends SettingsBlock>(of: B): SettingValues<B>
  /** Says that something changed, to whoever listens on this topic in this process. */
  announce(topic: string): void
  /** Yields at each announcement, and at least this often, since another process may have made the change. */
  changes(topic: string, signal: AbortSignal, at_least_every_ms: number): AsyncIterable<void>
  /** Runs a worker of this role soon. */
  wake(worker: string): void
  count<L extends string>(metric: Metric<L>, labels: MetricLabels<L>, by?: number): void
  set<L extends string>(metric: Metric<L>, labels: MetricLabels<L>, value: number): void
  observe<L extends string>(metric: Metric<L>, labels: MetricLabels<L>, value: number): void
  /** Capabilities that only the site role is given; a role names what it needs by key. */
  part<P>(key: PartKey<P>): P
}

/** `label`: that of the statement in the terms of the site's policy; by `label_map` others of the same peer are read. */
export type VerifiedStatement = VerifiedPayload & {
  readonly label: Label
  readonly label_map: LabelMap | undefined
  /** People let it in under this label: what body and statement say of it does not count. */
  readonly is_label_released: boolean
  /** What moves the messages of this peer. */
  readonly transport: string
}

/**
 * What other roles of the site do for this one, in this process or another, asked as the site's service. Not among the
 * surroundings, which all calls share: each question goes out in the trace of the call that asks it.
 */
export interface RoleClients {
  /** Signs with the site's key. */
  sign(type: SignatureType, payload: Uint8Array): Promise<Jws>
  publicKeys(): Promise<readonly PublicKey[]>
  /** Verifies what a peer signed against its pinned keys. */
  verifyFromPeer(peer: string, type: SignatureType, envelope: Jws): Promise<VerifiedPayload | Refusal>
  /** The same for a message, judged as its carrier judges it. */
  verifyStatement(peer: string, envelope: Jws): Promise<VerifiedStatement | Refusal>
  /** Hands a message to the site's carriers; durable when it resolves, and a repeated `event_id` changes nothing. */
  send(message: OutboundMessage): Promise<void>
  /** Why something with this label may not cross to the peer; undefined when it may. */
  mayCross(peer: string, label: Label): Promise<Refusal | undefined>
  /** Tells the coalition's status feed; durable at the hub when it resolves with undefined. Refuses what may never be told. */
  publishStatusEvent(event: StatusEvent, label: Label): Promise<Refusal | undefined>
  /** Opens a consensus session about a match, for its tenant; refuses what can never be opened. */
  openSession(session: MatchSession): Promise<Refusal | undefined>
  /** Tells the resolution role what a session decided about a match; refuses what the match does not take. */
  applyRuling(ruling: SessionRuling): Promise<Refusal | undefined>
  /** What another role has that may be worth a signal: the newest first, a page at a time, as its own list answers. */
  feed(of: RoleFeed, query: Readonly<Record<string, string | number>>): Promise<unknown>
  request(operation: AnyOperation, input: Readonly<Record<string, unknown>>): Promise<unknown>
}

export type RoleFeed = 'dissent' | 'quarantine' | 'channel'

/** A typed name for something boot supplies to a role beyond the common surroundings. */
export type PartKey<P> = { readonly name: string; readonly phantom?: P }

export function part<P>(name: string): PartKey<P> {
  return { name }
}

/** A body as its sender signed it. Header names in lower case. */
export type SignedBody = {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** What it says; refuses `malformed` and `invalid`. For whoever has judged the signature. */
  readonly parse: () => unknown | Refusal
}

export interface Call extends RoleEnvironment {
  readonly caller: Caller
  /** The operation's or worker's address. */
  readonly address: string
  readonly trace: Trace
  readonly roles: RoleClients
  readonly signal: AbortSignal
  /** What the client accepts, best first; empty: anything. */
  readonly accepts: readonly string[]
  readonly last_event_id: string | undefined
  readonly if_match: number | undefined
  /** The whole Authorization header; never to be logged or stored. */
  readonly authorization: string | undefined
  readonly idempotency_key: string | undefined
  /** Of an operation that is declared `signed`. */
  readonly signed_body: SignedBody | undefined
  /** Digest of the whole input, to tell a repeat from a different request under the same key. */
  requestDigest(): string
  nowIso(): string
  /** `<prefix>_<32 hex>`: random, or derived from (tenant, subject, key) when the client gave an Idempotency-Key. */
  newId(prefix: string): string
  store<T extends StoredFields>(of: Collection<T>): ScopedStore<T>
  /** A record for the audit chain, filled with who, when and where. */
  audited(action: string, target: string, detail: Readonly<Record<string, unknown>>, label?: Label): AuditEvent
  /** Appends events that go with no write of their own; durable when it resolves. */
  record(events: readonly AuditEvent[]): Promise<void>
}
