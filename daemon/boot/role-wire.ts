// The contract of a role's wire, where a role meets adapters: its checks, parts, start and stop.

import type { Role } from '../kernel/role/role.ts'
import type { ProfileProblem } from '../kernel/settings/profile-error.ts'
import type { ResolvedSettings, SettingSources } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import type { Metric, Metrics } from '../kernel/telemetry/metrics.ts'
import type { PublicListener } from './service.ts'
import type { SiteResources } from './site-resources.ts'
import type { RoleStorage } from './storage/role-storage.ts'
import type { SiteFolder } from './storage/site-folder.ts'

/** Each member is optional but `open`: a role without adapters of its own has no wire. */
export type RoleWire = {
  /** Metrics of adapters that belong to the role, declared beside its own. */
  readonly metrics?: readonly Metric[]
  /** Problems that forbid the start of the process, found before anything is opened. */
  readonly findStartProblems?: (input: WireStartInput) => Promise<readonly ProfileProblem[]>
  /** Runs before the storage of the role is opened. */
  readonly prepare?: (folder: SiteFolder) => Promise<void>
  /** Opens what the role needs; nothing listens or moves yet. */
  readonly open: (context: WireContext) => Promise<WiredRole>
}

export type WireStartInput = {
  readonly folder: SiteFolder
  readonly resolved: ResolvedSettings
  readonly env: SettingSources['env']
  /** Epoch milliseconds. */
  readonly now: number
}

export type WireContext = {
  readonly role: Role
  readonly resources: SiteResources
  readonly storage: RoleStorage
  readonly metrics: Metrics
  readonly log: Log
}

export type WiredRole = {
  /** Parts by name, for `RoleEnvironment.part`. */
  readonly parts: readonly (readonly [string, unknown])[]
  readonly publicListener?: PublicListener
  /**
   * Starts what moves by itself, once every role of the process serves. Throws when the role cannot do its work without
   * it.
   */
  readonly start?: () => Promise<void>
  /** Ends it, before any service stops; also what `start` had only begun. */
  readonly stop?: (drain_ms: number) => Promise<void>
  /** Takes what it put into the shared resources out of them again: the role runs in this process no more. */
  readonly remove?: () => void
}
