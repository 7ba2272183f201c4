// Performs the tasks of DAGs of a service, each try in a thread of its own.

import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { WireContext } from '../../boot/role-wire.ts'
import { findDatasets } from '../../boot/storage/landed-datasets.ts'
import { roleDataFolder, roleRunFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { TaskOutcome, TaskPerformer } from '../../roles/ingest/parts.ts'
import { settings } from '../../roles/ingest/settings.ts'
import { makeFolder } from './handover/shared-folder.ts'
import { OpenTries } from './open-tries.ts'
import { performTry } from './perform-try.ts'
import { cursorOf, inputFolder, readManifest } from './steps/dataset-store.ts'
import type { SourceSettings } from './thread-job.ts'

/** Files that tasks write for others, where the profile names no folder. */
export const default_outputs_folder = 'output'
/** The same for files that carriers bring. */
const default_zones_folder = 'landing'

type PerformerSite = Pick<WireContext['resources'], 'folder' | 'resolved' | 'site'>

export function readSourceSettings(folder: SiteFolder, resolved: ResolvedSettings): SourceSettings {
  const { data_folder, trusted_networks, download_scanner: scanner, ...limits } = getSettings(resolved, settings)
  const object_limits = {
    bytes: limits.objects_max_file_mb * 1_048_576,
    total_bytes: limits.objects_max_run_mb * 1_048_576,
  }
  return { data_folder, trusted_networks, scanner, object_limits, addonDir: roleRunFolder(folder, 'ingest') }
}

/** Drafts are on the disk of the datasets; several sites and workers may share that. No tenant has a folder of such a name. */
function findFolders({ folder, resolved, site }: PerformerSite) {
  const { datasets, isShared } = findDatasets(folder, resolved)
  return { datasets, isShared, drafts: join(datasets, isShared ? `.drafts-${site.name}` : '.drafts') }
}

/** Its drafts are beside those of tries, which are removed at the start. */
export function findCutterSettings({ folder, resolved, site }: PerformerSite) {
  const { datasets, drafts } = findFolders({ folder, resolved, site })
  return { datasets, drafts, max_memory_mb: getSettings(resolved, settings).task_memory_mb }
}

export function findZonesFolder(folder: SiteFolder, resolved: ResolvedSettings): string {
  return getSettings(resolved, settings).landing_folder ?? join(roleDataFolder(folder, 'ingest'), default_zones_folder)
}

/** Removes what tries of a process that died have left: the role runs in no other process here. */
export async function openTaskPerformer({ folder, resolved, site }: PerformerSite): Promise<TaskPerformer> {
  const { task_memory_mb, output_folder } = getSettings(resolved, settings)
  const sources = readSourceSettings(folder, resolved)
  const { datasets, drafts, isShared } = findFolders({ folder, resolved, site })
  const zones = findZonesFolder(folder, resolved)
  const outputs = output_folder ?? join(roleDataFolder(folder, 'ingest'), default_outputs_folder)
  const clear = async () => {
    await rm(drafts, { recursive: true, force: true })
    makeFolder(datasets, drafts)
  }
  // The folder of workers may come later, and is not needed before a worker hands over a task.
  await clear().catch((error: unknown) => {
    if (!isShared) throw error
  })
  const tries = new OpenTries()
  return {
    perform: (work, signal) =>
      tries.track(work.tenant_id, `${work.run}/${work.task.name}`, async () => {
        const fault = isShared && findFolderFault(datasets, drafts)
        if (fault) return fault
        return await performTry(work, {
          ...{ sources, datasets, outputs, zones, signal, max_memory_mb: task_memory_mb, report: () => undefined },
          drafts: join(drafts, randomBytes(12).toString('hex')),
        })
      }),
    async close(tenant_id, dataset) {
      await tries.close(tenant_id, dataset)
      const reading = readManifest(inputFolder({ datasets, tenant_id }, { dataset }))
      const cursor = reading && cursorOf(reading.dataset)
      return reading && cursor && { dataset, digest: reading.digest, cursor }
    },
  }
}

/** Another try may succeed once an operator has corrected the permissions. */
function findFolderFault(datasets: string, drafts: string): TaskOutcome | undefined {
  try {
    makeFolder(datasets, drafts)
    return undefined
  } catch (error) {
    const { code = 'it cannot be opened' } = error as NodeJS.ErrnoException
    const reason = `the site cannot write its datasets for the workers: ${code}; see ingest.worker_folder`
    return { log: `${reason}\n`, failure: { reason, isFinal: false } }
  }
}
