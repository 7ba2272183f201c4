// The Parquet files behind a connection: the file that it names, or those in its folder.
import * as z from 'zod'
import type { DataFile } from '../../../../adapters/platform/data-file/data-file.ts'
import {
  listTenantDataFiles,
  openTenantDataFile,
  TenantDataFileError,
} from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'

/** As many inputs as a dataset describes. */
const max_files = 1_000

/**
 * Names below the folder of the tenant, in the order of their bytes. `mayBeEmpty`: the folder may have none any more. Throws
 * `TenantDataFileError`.
 */
export function listParquetFiles(
  { tenant_id, config }: OpenConnection,
  data_folder: string | undefined,
  mayBeEmpty = false,
): readonly string[] {
  const { path } = z.looseObject({ path: z.string() }).parse(config)
  const inside = listTenantDataFiles(data_folder, tenant_id, path)
  if (!inside) return [path]
  const names = inside.filter((name) => name.endsWith('.parquet')).toSorted()
  if (names.length === 0 && !mayBeEmpty) throw new TenantDataFileError('the folder has no file that ends in .parquet')
  if (names.length > max_files) throw new TenantDataFileError(`the folder has more than ${max_files} Parquet files`)
  return names.map((name) => `${path}/${name}`)
}

export function openParquetFile(
  { tenant_id }: OpenConnection,
  data_folder: string | undefined,
  name: string,
): DataFile {
  return openTenantDataFile(data_folder, tenant_id, name)
}
