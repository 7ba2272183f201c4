// Where the datasets of pipelines are: with workers of another scheduler in the folder that they share with the site.
import { join } from 'node:path'
import { datasets_folder } from '../../../adapters/platform/data-file/datasets-folder.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings as ingestSettings } from '../../roles/ingest/settings.ts'
import { roleDataFolder, type SiteFolder } from './site-folder.ts'

/** `isShared`: with workers, by the folder that they share. */
export function findDatasets(
  folder: SiteFolder,
  resolved: ResolvedSettings,
): { readonly datasets: string; readonly isShared: boolean } {
  const { workflow_base_url, worker_folder } = getSettings(resolved, ingestSettings)
  const isShared = workflow_base_url !== undefined && worker_folder !== undefined
  return { datasets: join(isShared ? worker_folder : roleDataFolder(folder, 'ingest'), datasets_folder), isShared }
}
