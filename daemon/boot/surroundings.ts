// What every call of a role is surrounded by, put together from the adapters.
import type { Log, PartKey, Site, Surroundings } from '../kernel/call.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Resolved } from '../kernel/settings.ts'
import type { Bus } from './bus.ts'
import { valuesOf } from './profile.ts'

export type Parts = ReadonlyMap<string, unknown>

export type Materials = {
  readonly role: string
  readonly site: Site
  readonly log: Log
  readonly settings: Resolved
  readonly metrics: Metrics
  readonly bus: Bus
  readonly parts: Parts
  readonly now: () => number
  readonly monotonic: () => number
  readonly random: (bytes: number) => string
  readonly wake: (worker: string) => void
}

export function surroundings(given: Materials): Surroundings {
  const { metrics, bus, parts } = given
  return {
    site: given.site,
    log: given.log,
    now: given.now,
    monotonic: given.monotonic,
    random: given.random,
    settings: (of) => valuesOf(given.settings, of),
    announce: bus.announce,
    changes: bus.changes,
    wake: given.wake,
    count: metrics.count,
    set: metrics.set,
    observe: metrics.observe,
    part: <P>(key: PartKey<P>): P => {
      if (!parts.has(key.name)) throw new TypeError(`the role ${given.role} was given no part "${key.name}"`)
      return parts.get(key.name) as P
    },
  }
}
