// Threads for the phases of runs and the jobs of exchanges, and their limits.
import { threads } from '../../../adapters/compute/threads/threads.ts'
import { findThreadScript } from '../../boot/host/thread-script.ts'
import type { Compute } from '../../kernel/role/compute.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings } from '../../roles/resolution/settings.ts'

export function resolutionThreads(): Compute {
  return threads(() => findThreadScript('resolution-thread.cjs', new URL('./thread.ts', import.meta.url)))
}

export function readComputeLimits(resolved: ResolvedSettings): {
  readonly timeout_ms: number
  readonly max_memory_bytes: number
} {
  const { run_minutes, run_memory_mb } = getSettings(resolved, settings)
  return { timeout_ms: run_minutes * 60_000, max_memory_bytes: run_memory_mb * 1_048_576 }
}
