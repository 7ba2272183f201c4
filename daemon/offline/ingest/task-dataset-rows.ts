// Finds rows by their ids in a dataset that a task of a pipeline landed, as long as it is the one that was read then.
import { existsSync } from 'node:fs'
import { datasetFolder } from '../../../adapters/platform/data-file/datasets-folder.ts'
import { isLandedFolder } from '../../../adapters/platform/data-file/landed-folder.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { findDatasets } from '../../boot/storage/landed-datasets.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import { openDescribedDataset } from './described-dataset.ts'
import { findRows } from './find-rows.ts'
import { type RowOrigin, traceRows } from './trace-rows.ts'

/** `name`: `RUN/TASK`. `digest`: SHA-256 of the description. */
export type TaskDatasetRequest = {
  readonly tenant_id: string
  readonly name: string
  readonly digest: string
  readonly id_column: string
  readonly ids: readonly string[]
}

/** `gone`: there is no dataset any more; `replaced`: there is another one. Rows are by id. */
export type TaskDatasetRows =
  | { readonly state: 'gone' | 'replaced' }
  | { readonly state: 'found'; readonly rows: ReadonlyMap<string, RowOrigin> }

/** Throws `OfflineCommandError`: 1 where the datasets of the site cannot be read, 5 where one is damaged. */
export async function findTaskDatasetRows(
  { folder, env }: { readonly folder: SiteFolder; readonly env: EnvironmentVariables },
  { tenant_id, name, digest, id_column, ids }: TaskDatasetRequest,
): Promise<TaskDatasetRows> {
  const { datasets } = findDatasets(folder, readSiteSettings(folder, env).resolved)
  const path = locateDataset(datasets, tenant_id, name)
  if (!runAsInvoker(() => isLandedFolder(path))) {
    if (runAsInvoker(() => existsSync(datasets))) return { state: 'gone' }
    throw new OfflineCommandError(
      1,
      `the datasets of the site cannot be read: ${datasets} is not there, or not for you`,
      'run the command on the machine of the role ingest, as the owner of the site or as root',
    )
  }
  const dataset = openDescribedDataset(path)
  if (dataset.sha256 !== digest) return { state: 'replaced' }
  // The run has refused ids that are repeated.
  const found = [...(await findRows(dataset, id_column, ids, 1))].flatMap(([id, [row]]) =>
    row === undefined ? [] : [{ id, row }],
  )
  const origins = await traceRows(
    dataset,
    found.map(({ row }) => row),
  )
  const rows = found.flatMap(({ id, row }) => {
    const origin = origins.get(row)
    return origin ? [[id, origin] as const] : []
  })
  return { state: 'found', rows: new Map(rows) }
}

/** The name came from a service. */
function locateDataset(datasets: string, tenant_id: string, name: string): string {
  try {
    return datasetFolder(datasets, tenant_id, name)
  } catch {
    throw new OfflineCommandError(5, `the service names the dataset ${JSON.stringify(name)}, which is not one`)
  }
}
