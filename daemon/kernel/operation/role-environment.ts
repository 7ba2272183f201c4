// The environment of a role: clock, random numbers, settings, log, metrics, and its parts.
import type { PartKey } from '../role/part.ts'
import type { Site } from '../role/site.ts'
import type { SettingsBlock, SettingValues } from '../settings/settings.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/** Supplied by boot to every call of a role; the same for all its calls. */
export interface RoleEnvironment extends Pick<Metrics, 'count' | 'set' | 'observe'> {
  readonly site: Site
  readonly log: Log
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds of a clock that never jumps, for durations. */
  monotonic(): number
  /** Resolves once the event loop has done other work that was waiting. */
  pause(): Promise<void>
  /** Resolves after the time, or as soon as the signal ends: between two looks of a worker at something outside. */
  wait(wait_ms: number, signal: AbortSignal): Promise<void>
  /** `bytes` random bytes as lower-case hexadecimal. */
  random(bytes: number): string
  settings<B extends SettingsBlock>(block: B): SettingValues<B>
  /** Notifies every listener on this topic in this process that something changed. */
  announce(topic: string): void
  /** Yields at each announcement, and at least this often, because another process may have made the change. */
  changes(topic: string, signal: AbortSignal, at_least_every_ms: number): AsyncIterable<void>
  /** Runs a worker of this role soon. Throws for a worker that the role does not have. */
  wake(worker: string): void
  /** A part of this role, by its key. Throws for a part that boot has not supplied to it. */
  part<P>(key: PartKey<P>): P
}
