// The folder of the datasets that pipelines have landed: a folder for each tenant, run and task.
import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Name of the folder within that of the role which lands them. */
export const datasets_folder = 'datasets'

/** `datasets`: the folder of all. Throws where the name is not that of a dataset. */
export function datasetFolder(datasets: string, tenant_id: string, dataset: string): string {
  const segments = dataset.split('/')
  if (segments.length !== 2 || segments.some((each) => each === '' || each.startsWith('.')))
    throw new Error('the run names a dataset that is not one')
  return join(datasets, safeFolderName(tenant_id), ...segments)
}

/** A tenant may have any name: of letters that folders take as they are, or else a digest. */
export function safeFolderName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return name
  return `_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
}
