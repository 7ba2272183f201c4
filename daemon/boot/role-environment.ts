// Builds the environment of a role's calls from the adapters.
import { setTimeout as sleep } from 'node:timers/promises'
import type { RoleEnvironment } from '../kernel/operation/role-environment.ts'
import type { PartKey } from '../kernel/role/part.ts'
import type { Site } from '../kernel/role/site.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../kernel/settings/settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import type { Metrics } from '../kernel/telemetry/metrics.ts'
import type { AnnouncementBus } from './announcement-bus.ts'

export type RoleParts = ReadonlyMap<string, unknown>

export type RoleEnvironmentParts = {
  readonly role: string
  readonly site: Site
  readonly log: Log
  readonly settings: ResolvedSettings
  readonly metrics: Metrics
  readonly bus: AnnouncementBus
  readonly parts: RoleParts
  readonly now: () => number
  readonly monotonic: () => number
  readonly random: (bytes: number) => string
  readonly wake: (worker: string) => void
}

export function buildRoleEnvironment(options: RoleEnvironmentParts): RoleEnvironment {
  const { metrics, bus, parts } = options
  return {
    site: options.site,
    log: options.log,
    now: options.now,
    monotonic: options.monotonic,
    pause: () => new Promise((resolve) => void setImmediate(resolve)),
    wait: (wait_ms, signal) => sleep(wait_ms, undefined, { signal }).catch(() => undefined),
    random: options.random,
    settings: (block) => getSettings(options.settings, block),
    announce: bus.announce,
    changes: bus.changes,
    wake: options.wake,
    count: metrics.count,
    set: metrics.set,
    observe: metrics.observe,
    part: <P>(key: PartKey<P>): P => {
      if (!parts.has(key.name)) throw new TypeError(`the role ${options.role} has no part "${key.name}"`)
      return parts.get(key.name) as P
    },
  }
}
