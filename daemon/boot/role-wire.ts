// Contract of a role's wire, which connects the role to adapters, and starts and stops its background work.

import type { PassedResource } from '../kernel/api/passed-resources.ts'
import type { AddressedOperation } from '../kernel/operation/operation.ts'
import type { Dependency } from '../kernel/role/dependency.ts'
import type { Role } from '../kernel/role/role.ts'
import type { ProfileProblem } from '../kernel/settings/profile-error.ts'
import type { ResolvedSettings, SettingSources } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import type { Metric, Metrics } from '../kernel/telemetry/metrics.ts'
import type { WiredListeners } from './open-listener.ts'
import type { SiteResources } from './site-resources.ts'
import type { RoleStorage } from './storage/role-storage.ts'
import type { SiteFolder } from './storage/site-folder.ts'

/** Only `open` is required. A role without adapters of its own has no wire. */
export type RoleWire = {
  /** Metrics of adapters that belong to the role, declared beside its own. */
  readonly metrics?: readonly Metric[]
  /** Problems that forbid the start of the process, found before anything is opened. */
  readonly findStartProblems?: (input: WireStartInput) => Promise<readonly ProfileProblem[]>
  /** Runs before the storage of the role is opened. */
  readonly prepare?: (folder: SiteFolder) => Promise<void>
  /** Opens the parts of the role; nothing listens or runs yet. */
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
  /** Reported in the health of the role, besides those that boot knows. */
  readonly dependencies?: readonly Dependency[]
  /** What the wire serves at the listeners of the outline; every one but the first must be here. */
  readonly listeners?: WiredListeners
  /**
   * Tools that the role offers beyond its own operations: the same array until they change, when the role announces
   * `toolsTopic`.
   */
  readonly tools?: () => readonly AddressedOperation[]
  /** Resources of other services that it offers with them, in the same way. */
  readonly resources?: () => readonly PassedResource[]
  /** Starts background work once every role of the process serves. Throws if the role cannot work without it. */
  readonly start?: () => Promise<void>
  /** Stops background work before any service stops, also after an incomplete `start`. */
  readonly stop?: (drain_ms: number) => Promise<void>
  /** Removes its entries from the shared resources, when the role no longer runs in this process. */
  readonly remove?: () => void
}
