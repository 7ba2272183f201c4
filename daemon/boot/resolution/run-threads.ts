// Threads for phases of runs and for what exchanges compute, and what any such piece of work may take.
import { threads } from '../../../adapters/compute/threads/threads.ts'
import type { Compute } from '../../kernel/compute.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { valuesOf } from '../profile.ts'
import { threadScript } from '../thread-script.ts'

export function resolutionThreads(): Compute {
  return threads(() => threadScript('resolution-thread.cjs', new URL('./thread.ts', import.meta.url)))
}

export function limitsOf(resolved: Resolved): { readonly time_ms: number; readonly memory_bytes: number } {
  const { run_minutes, run_memory_mb } = valuesOf(resolved, settings)
  return { time_ms: run_minutes * 60_000, memory_bytes: run_memory_mb * 1_048_576 }
}
