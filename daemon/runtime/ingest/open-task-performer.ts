// Performs the tasks of DAGs of a service, each try in a thread of its own.

import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { datasets_folder } from '../../../adapters/platform/data-file/datasets-folder.ts'
import { roleDataFolder, roleRunFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { TaskPerformer } from '../../roles/ingest/parts.ts'
import { settings } from '../../roles/ingest/settings.ts'
import { OpenTries } from './open-tries.ts'
import { performTry } from './perform-try.ts'
import { cursorOf, inputFolder, readManifest } from './steps/dataset-store.ts'
import type { SourceSettings } from './thread-job.ts'

/** Within the folder of datasets, so on the same disk: a folder for each try that is under way. No tenant has a folder of this name. */
export const drafts_folder = '.drafts'

/** Files that tasks write for others, where the profile names no folder. */
export const default_outputs_folder = 'output'
/** The same for files that carriers bring. */
const default_zones_folder = 'landing'

export function readSourceSettings(folder: SiteFolder, resolved: ResolvedSettings): SourceSettings {
  const { data_folder, trusted_networks, download_scanner: scanner, ...limits } = getSettings(resolved, settings)
  const object_limits = {
    bytes: limits.objects_max_file_mb * 1_048_576,
    total_bytes: limits.objects_max_run_mb * 1_048_576,
  }
  return { data_folder, trusted_networks, scanner, object_limits, addonDir: roleRunFolder(folder, 'ingest') }
}

/** Its drafts are beside those of tries, which are removed at the start. */
export function findCutterSettings(folder: SiteFolder, resolved: ResolvedSettings) {
  const datasets = join(roleDataFolder(folder, 'ingest'), datasets_folder)
  const max_memory_mb = getSettings(resolved, settings).task_memory_mb
  return { datasets, drafts: join(datasets, drafts_folder), max_memory_mb }
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
  const tries = new OpenTries()
  return {
    perform: (work, signal) =>
      tries.track(work.tenant_id, `${work.run}/${work.task.name}`, () =>
        performTry(work, {
          ...{ sources, datasets, outputs, zones, signal, max_memory_mb: task_memory_mb, report: () => undefined },
          drafts: join(drafts, randomBytes(12).toString('hex')),
        }),
      ),
    async close(tenant_id, dataset) {
      await tries.close(tenant_id, dataset)
      const reading = readManifest(inputFolder({ datasets, tenant_id }, { dataset }))
      const cursor = reading && cursorOf(reading.dataset)
      return reading && cursor && { dataset, digest: reading.digest, cursor }
    },
  }
}
