// Opens the thread for lookups and arrivals, within the limits of the settings.
import { ResidentThread } from '../../../adapters/compute/threads/resident-thread.ts'
import { findThreadScript } from '../../boot/host/thread-script.ts'
import type { ResidentCompute } from '../../kernel/role/compute.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings } from '../../roles/resolution/settings.ts'
import { readComputeLimits } from './run-threads.ts'

/** Jobs that share the time of the thread; more would only make each slower. */
const max_active = 4

export function openMatchingThread(resolved: ResolvedSettings): ResidentCompute {
  const { lookups_waiting, lookups_waiting_per_caller } = getSettings(resolved, settings)
  const { max_memory_bytes } = readComputeLimits(resolved)
  return new ResidentThread(
    () => findThreadScript('matching-thread.cjs', new URL('./matching-thread.ts', import.meta.url)),
    { max_memory_bytes, max_active, max_waiting: lookups_waiting, max_waiting_per_owner: lookups_waiting_per_caller },
  )
}
