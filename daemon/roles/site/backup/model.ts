// A backup of the databases of the site, as a job: made at the times of the profile.
import * as z from 'zod'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { collection } from '../../../kernel/store/store.ts'

const storedBackup = z.strictObject({
  tenant_id: z.string(),
  created_by: z.string(),
  created_at: z.iso.datetime(),
  ended_at: z.iso.datetime().optional(),
  /** Name of the folder, once it is complete. */
  set: z.string().optional(),
  expires_ts: z.number().optional(),
  ...jobFields,
})
export type StoredBackup = z.infer<typeof storedBackup>

export const backups = collection({ name: 'backup', schema: storedBackup, indexes: [...job_indexes] })
