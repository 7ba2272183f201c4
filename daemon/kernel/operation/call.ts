// What an operation or a worker may reach: everything outside its own reasoning comes through here.

import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Refusal } from '../error/errors.ts'
import type { Caller } from '../identity/identity.ts'
import type { Label, LabelPolicy } from '../label/label.ts'
import type { SettingsBlock, SettingValues } from '../settings/settings.ts'
import type { ScopedStore } from '../store/scoped-store.ts'
import type { Collection, StoredFields } from '../store/store.ts'
import type { Metric, MetricLabels } from '../telemetry/metrics.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { RoleClients } from './operation-contract.ts'

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
