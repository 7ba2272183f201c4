// A run that the site triggered at a scheduler which keeps its runs itself, until the site has seen its end. The watch is a job.
import * as z from 'zod'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { collection } from '../../../kernel/store/store.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import {
  dagRunId,
  taskLineage,
  workflowRunState,
  workflowTaskState,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { count, instant, provenanceFields, shortText, uid } from '../fields.ts'

/** The end of the run, for the sinks of lineage. */
const watchedEnd = z.strictObject({
  state: workflowRunState,
  started_at: instant.optional(),
  ended_at: instant,
  tasks: z.array(
    z.strictObject({
      name: shortText,
      tries: count,
      state: workflowTaskState.optional(),
      started_at: instant.optional(),
      ended_at: instant.optional(),
      lineage: taskLineage.optional(),
    }),
  ),
})
export type StoredWatchEnd = z.infer<typeof watchedEnd>

const storedRunWatch = z.strictObject({
  ...provenanceFields,
  ...jobFields,
  pipeline: uid,
  dag_id: dagId,
  dag_run_id: dagRunId,
  /** Of the live content at its trigger. */
  dag_digest: z.string().optional(),
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
  ended: watchedEnd.optional(),
  /** 1 while a sink of lineage does not have the end; an index by which the worker finds it. */
  unreported: z.literal(1).optional(),
})
export type StoredRunWatch = z.infer<typeof storedRunWatch>

export const runWatches = collection({
  name: 'run-watch',
  schema: storedRunWatch,
  indexes: ['pipeline', 'over', 'unreported', ...job_indexes],
  // If-Match of a request is about the object.
  revision: () => undefined,
})
