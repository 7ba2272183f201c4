// Performs the tasks of DAGs, each try in a thread of its own.
import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { threads } from '../../../adapters/compute/threads/threads.ts'
import { readPackedAddon } from '../../../adapters/store/sqlite/addon.ts'
import { faultPointSpec } from '../../boot/host/fault-stop.ts'
import { findThreadScript } from '../../boot/host/thread-script.ts'
import { roleDataFolder, roleRunFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { TaskOutcome, TaskPerformer } from '../../roles/ingest/parts.ts'
import { settings } from '../../roles/ingest/settings.ts'
import type { SourceSettings, TaskThreadJob } from './thread-job.ts'

/** Landed datasets, in a folder for each tenant. */
const datasets_folder = 'datasets'
/** Within it, so on the same disk: a folder for each try that is under way. No tenant has a folder of this name. */
const drafts_folder = '.drafts'

/** Files that tasks write for others, where the profile names no folder. */
const default_outputs_folder = 'output'
/** The same for files that carriers bring. */
const default_zones_folder = 'landing'

/** The threads of this role. */
export const ingestThreads = threads(() =>
  findThreadScript('ingest-thread.cjs', new URL('./thread.ts', import.meta.url)),
)

export function readSourceSettings(folder: SiteFolder, resolved: ResolvedSettings): SourceSettings {
  const { data_folder, trusted_networks } = getSettings(resolved, settings)
  return { data_folder, trusted_networks, addonDir: roleRunFolder(folder, 'ingest') }
}

export function findZonesFolder(folder: SiteFolder, resolved: ResolvedSettings): string {
  return getSettings(resolved, settings).landing_folder ?? join(roleDataFolder(folder, 'ingest'), default_zones_folder)
}

/** Removes what tries of a process that died have left: the role runs in no other process here. */
export async function openTaskPerformer(folder: SiteFolder, resolved: ResolvedSettings): Promise<TaskPerformer> {
  const { task_memory_mb, output_folder } = getSettings(resolved, settings)
  const sources = readSourceSettings(folder, resolved)
  const datasets = join(roleDataFolder(folder, 'ingest'), datasets_folder)
  const zones = findZonesFolder(folder, resolved)
  const outputs = output_folder ?? join(roleDataFolder(folder, 'ingest'), default_outputs_folder)
  const drafts = join(datasets, drafts_folder)
  await rm(drafts, { recursive: true, force: true })
  await mkdir(drafts, { recursive: true, mode: 0o700 })
  return {
    async perform(work, signal): Promise<TaskOutcome> {
      const packedAddon = work.connection?.conn_type === 'sqlite' ? readPackedAddon() : undefined
      const own = join(drafts, randomBytes(12).toString('hex'))
      const input: TaskThreadJob = {
        ...{ ...work, ...sources, packedAddon, datasets, outputs, zones, drafts: own, faultPoint: faultPointSpec },
      }
      try {
        return (await ingestThreads.run({
          input,
          signal,
          timeout_ms: work.task.time_limit_s * 1_000,
          max_memory_bytes: task_memory_mb * 1_048_576,
          report: () => undefined,
        })) as TaskOutcome
      } catch (error) {
        // Beyond a limit: another try would meet it again.
        if (isRefusal(error) && error.code === 'too_large')
          return { log: error.message, failure: { reason: error.message, isFinal: true } }
        throw error
      } finally {
        // Its thread has ended, whatever ended it.
        await rm(own, { recursive: true, force: true })
      }
    },
  }
}
