// The landing zone of a pipeline: the file that it works on, what became of others, and whom it acts for. The zone is a job.
import * as z from 'zod'
import { delayFields } from '../../../kernel/job/job-delay.ts'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { collection } from '../../../kernel/store/store.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { count, instant, provenanceFields } from '../fields.ts'

/** Why a file is not taken, in codes that receipts and documents name. */
const carriedFaultCode = z.enum(['NOT_REGULAR', 'BAD_NAME', 'TOO_LARGE', 'UNREADABLE', 'SCANNER', 'RUN_FAILED'])
export const carriedFault = z.strictObject({ code: carriedFaultCode, reason: z.string().max(4_096) })
export type CarriedFault = z.infer<typeof carriedFault>

/** A file that waits: `inode` tells it from one that takes its name later. */
export type WaitingFile = { readonly name: string; readonly inode: string; readonly fault?: CarriedFault | undefined }

export type TakenFile = { readonly bytes: number; readonly sha256: string }

const fileName = z.string().max(1_024)

/** The file in progress. `sha256`: once the service has its copy; a run of it is triggered from then on. */
const zoneArrival = z.strictObject({
  number: count,
  name: fileName,
  inode: z.string().max(64),
  fault: carriedFault.optional(),
  bytes: count.optional(),
  sha256: z.string().length(64).optional(),
  dag_run_id: z.string().max(250),
  found_at: instant,
})
export type ZoneArrival = z.infer<typeof zoneArrival>

const lastFile = z.strictObject({
  file: fileName,
  outcome: z.enum(['landed', 'duplicate', 'quarantined']),
  reason: z.string().max(4_096).optional(),
  at: instant,
})

const zoneFault = z.strictObject({ code: z.string().max(64), reason: z.string().max(4_096), at: instant })

const counts = { landed: count, duplicates: count, quarantined: count }

const storedZone = z.strictObject({
  ...provenanceFields,
  ...jobFields,
  ...counts,
  dag_id: dagId,
  /** Of the newest file; numbers never repeat, also after the pipeline was deleted and made again. */
  number: count,
  arrival: zoneArrival.optional(),
  last: lastFile.optional(),
  fault: zoneFault.optional(),
})
export type StoredLandingZone = z.infer<typeof storedZone>

/** By the uid of its pipeline. */
export const landingZones = collection({
  name: 'landing-zone',
  schema: storedZone,
  indexes: [...job_indexes],
  // If-Match of a request is about the pipeline.
  revision: () => undefined,
})

export const landingZoneView = z
  .strictObject({
    folder: z.string().meta({ description: 'Where carriers put files, below ingest.landing_folder' }),
    in_progress: z.strictObject({ file: fileName, found_at: instant, dag_run_id: z.string().optional() }).optional(),
    ...counts,
    incoming: z
      .array(
        z.strictObject({
          ...{
            peer: z.string(),
            dataset: z.string(),
            set_id: z.string(),
            parts: count,
            received: count,
            since: instant,
          },
          waits: z.enum(['parts', 'label']).optional().meta({
            description: 'parts: not all messages are there; label: its label is higher than that of the pipeline',
          }),
        }),
      )
      .max(1_000)
      .optional()
      .meta({ description: 'Datasets of the peer that are not in the folder yet' }),
    last: lastFile.optional().meta({ description: 'The file whose work ended last' }),
    fault: zoneFault.optional().meta({ description: 'Why no file is taken until the pipeline is deployed again' }),
    ...delayFields,
  })
  .meta({ id: 'LandingZone' })
export type LandingZoneView = z.infer<typeof landingZoneView>
