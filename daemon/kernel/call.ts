// What an operation or a worker may reach: everything outside its own reasoning comes through here.
import type { AuditEvent } from './audit.ts'
import type { StatusEvent } from './coalition.ts'
import type { Refused } from './errors.ts'
import type { Caller } from './identity.ts'
import type { Jws, PublicKey, SignatureType, Verified } from './keys.ts'
import type { Label, LabelPolicy } from './label.ts'
import type { LabelMap } from './label-map.ts'
import type { MatchSession, SessionRuling } from './match-session.ts'
import type { Metric, MetricLabels } from './metrics.ts'
import type { AnyOperation } from './operation.ts'
import type { ScopedStore } from './scoped-store.ts'
import type { Block, Values } from './settings.ts'
import type { Collection, Stored } from './store.ts'
import type { Trace } from './trace.ts'
import type { Outgoing } from './transport.ts'

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
export interface Surroundings {
  readonly site: Site
  readonly log: Log
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds of a clock that never jumps, for durations. */
  monotonic(): number
  /** `bytes` random bytes as lower-case hexadecimal. */
  random(bytes: number): string
  settings<B extends Block>(of: B): Values<B>
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
export type VerifiedStatement = Verified & {
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
export interface Others {
  /** Signs with the site's key. */
  sign(type: SignatureType, payload: Uint8Array): Promise<Jws>
  publicKeys(): Promise<readonly PublicKey[]>
  /** Verifies what a peer signed against its pinned keys. */
  verifyFromPeer(peer: string, type: SignatureType, envelope: Jws): Promise<Verified | Refused>
  /** The same for a message, judged as its carrier judges it. */
  verifyStatement(peer: string, envelope: Jws): Promise<VerifiedStatement | Refused>
  /** Hands a message to the site's carriers; durable when it resolves, and a repeated `event_id` changes nothing. */
  send(message: Outgoing): Promise<void>
  /** Why something with this label may not cross to the peer; undefined when it may. */
  mayCross(peer: string, label: Label): Promise<Refused | undefined>
  /** Tells the coalition's status feed; durable at the hub when it resolves with undefined. Refuses what may never be told. */
  tellCoalition(event: StatusEvent, label: Label): Promise<Refused | undefined>
  /** Opens a consensus session about a match, for its tenant; refuses what can never be opened. */
  openSession(session: MatchSession): Promise<Refused | undefined>
  /** Tells the resolution role what a session decided about a match; refuses what the match does not take. */
  ruleMatch(ruling: SessionRuling): Promise<Refused | undefined>
  /** What another role has that may be worth a signal: the newest first, a page at a time, as its own list answers. */
  feed(of: Feed, query: Readonly<Record<string, string | number>>): Promise<unknown>
  ask(operation: AnyOperation, input: Readonly<Record<string, unknown>>): Promise<unknown>
}

export type Feed = 'dissent' | 'quarantine' | 'channel'

/** A typed name for something boot supplies to a role beyond the common surroundings. */
export type PartKey<P> = { readonly name: string; readonly phantom?: P }

export function part<P>(name: string): PartKey<P> {
  return { name }
}

/** A body as its sender signed it. Header names in lower case. */
export type Delivery = {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
  /** What it says; refuses `malformed` and `invalid`. For whoever has judged the signature. */
  readonly parse: () => unknown | Refused
}

export interface Call extends Surroundings {
  readonly caller: Caller
  /** The operation's or worker's address. */
  readonly address: string
  readonly trace: Trace
  readonly others: Others
  readonly signal: AbortSignal
  /** What the client accepts, best first; empty: anything. */
  readonly accepts: readonly string[]
  readonly last_event_id: string | undefined
  readonly if_match: number | undefined
  /** The whole Authorization header; never to be logged or stored. */
  readonly authorization: string | undefined
  readonly idempotency_key: string | undefined
  /** Of an operation that is declared `signed`. */
  readonly delivery: Delivery | undefined
  /** Digest of the whole input, to tell a repeat from a different request under the same key. */
  requestDigest(): string
  nowIso(): string
  /** `<prefix>_<32 hex>`: random, or derived from (tenant, subject, key) when the client gave an Idempotency-Key. */
  newId(prefix: string): string
  store<T extends Stored>(of: Collection<T>): ScopedStore<T>
  /** A record for the audit chain, filled with who, when and where. */
  audited(action: string, target: string, detail: Readonly<Record<string, unknown>>, label?: Label): AuditEvent
  /** Appends events that go with no write of their own; durable when it resolves. */
  record(events: readonly AuditEvent[]): Promise<void>
}
