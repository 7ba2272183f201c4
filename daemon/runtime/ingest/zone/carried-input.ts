// The file of a landing zone as what a task lands: the copy in custody, held to the digest with which it was taken.
import { join } from 'node:path'
import { openPlainFile, TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { ingestLandingZone } from '../../../roles/ingest/operator/ingest-landing-zone.ts'
import type { LandingInput } from '../landing/landing-input.ts'
import { inferFormat, pickDataFormat } from '../landing/stated-format.ts'
import type { TaskThreadJob } from '../thread-job.ts'
import { custodyName, zoneFolders } from './zone-folders.ts'

/** Throws `TenantDataFileError` for a run that no file began. */
export function openCarriedFile({ task, zones, tenant_id, pipeline, carried }: TaskThreadJob): LandingInput {
  if (zones === undefined) throw new TenantDataFileError('this machine has no landing zones')
  if (!carried)
    throw new TenantDataFileError(
      'the run has no file: put one into the landing zone of the pipeline, which starts a run',
    )
  const { name, sha256 } = carried
  const file = join(zoneFolders(zones, { tenant_id, pipeline }).work, custodyName(carried))
  const { read_as } = ingestLandingZone.params.parse(task.params)
  // A zone takes files of several formats.
  const format = pickDataFormat(inferFormat(name, read_as), read_as)
  return { name, label: name, format, sha256, open: () => openPlainFile(file) }
}
