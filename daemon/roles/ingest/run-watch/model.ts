// A run that the site triggered at a scheduler which keeps its runs itself, until the site has seen its end. The watch is a job.
import * as z from 'zod'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { collection } from '../../../kernel/store/store.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { dagRunId, workflowRunState } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { instant, provenanceFields, uid } from '../fields.ts'

const storedRunWatch = z.strictObject({
  ...provenanceFields,
  ...jobFields,
  pipeline: uid,
  dag_id: dagId,
  dag_run_id: dagRunId,
  /** The permission by which it was triggered, where that was not to read runs. */
  begun_by: z.literal('ingest:dispatch').optional(),
  /** The newest attempt. */
  triggered_at: instant,
  /** The state in which the scheduler last showed it. */
  seen: workflowRunState.optional(),
  /** Since when the scheduler does not show it. */
  missing_since: instant.optional(),
  /** A person has stopped it by the site: its failure raises no signal. */
  is_stopped: z.boolean().optional(),
  /** 1: nothing is left to see; an index by which the document is removed. */
  over: z.literal(1).optional(),
})
export type StoredRunWatch = z.infer<typeof storedRunWatch>

export const runWatches = collection({
  name: 'run-watch',
  schema: storedRunWatch,
  indexes: ['pipeline', 'over', ...job_indexes],
  // If-Match of a request is about the object.
  revision: () => undefined,
})
