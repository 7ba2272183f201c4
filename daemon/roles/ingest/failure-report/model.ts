// A failed run of a scheduler that keeps its runs itself, as the site saw it: a document until its signal is raised.
import * as z from 'zod'
import { collection } from '../../../kernel/store/store.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { count, provenanceFields, uid } from '../fields.ts'

const storedFailureReport = z.strictObject({
  ...provenanceFields,
  pipeline: uid,
  dag_id: dagId,
  dag_run_id: z.string().min(1).max(250),
  /** Absent in a report of an earlier release. */
  failed: z.array(z.strictObject({ name: z.string(), tries: count })).optional(),
})
export type StoredFailureReport = z.infer<typeof storedFailureReport>

export const failureReports = collection({ name: 'failure-report', schema: storedFailureReport, indexes: [] })
