// Finds where a thread begins: beside the bundle in the executable, where no thread can load a module; a module from sources.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Script, threads } from '../../../adapters/compute/threads/threads.ts'
import type { Compute } from '../../kernel/compute.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { valuesOf } from '../profile.ts'

/** `bundled`: its name in the executable; `module`: its file here. */
export function threadScript(bundled: string, module: URL): Script {
  const file = join(dirname(fileURLToPath(import.meta.url)), bundled)
  return existsSync(file) ? { source: readFileSync(file, 'utf8') } : { module }
}

/** For phases of runs and what exchanges compute. */
export function resolutionThreads(): Compute {
  return threads(() => threadScript('resolution-thread.cjs', new URL('./thread.ts', import.meta.url)))
}

/** What any piece of work beside the service may take. */
export function limitsOf(resolved: Resolved): { readonly time_ms: number; readonly memory_bytes: number } {
  const { run_minutes, run_memory_mb } = valuesOf(resolved, settings)
  return { time_ms: run_minutes * 60_000, memory_bytes: run_memory_mb * 1_048_576 }
}
