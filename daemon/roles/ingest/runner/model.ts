// A run of the embedded scheduler: the DAG as it was when the run began, and the state of each task. The run is a job.
import * as z from 'zod'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { assembledDag, dagId, max_tasks } from '../../../shared/assembled-dag/assembled-dag.ts'
import {
  dagRunId,
  pinnedFields,
  repeatedRun,
  requestedWork,
  workflowRunState,
  workflowTaskState,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { landedSummary, writtenFile } from '../dataset/model.ts'
import { count, instant, provenanceFields, shortText, uid } from '../fields.ts'

const runTask = z.strictObject({
  name: shortText,
  state: workflowTaskState.optional(),
  tries: count,
  /** Tries that ended in a failure. */
  failures: count,
  started_at: instant.optional(),
  ended_at: instant.optional(),
  dataset: landedSummary.optional(),
  written: writtenFile.optional(),
  /** What another role made of it. */
  requested: requestedWork.optional(),
  /** Of the catalog that performed it. */
  catalog_version: z.string().length(64).optional(),
})
export type RunTask = z.infer<typeof runTask>

/** `failure`: how it ended; a try that made something is that of the task. */
const siteTaskTry = z.strictObject({
  task: shortText,
  attempt: count,
  failure: z.strictObject({ reason: z.string(), is_final: z.boolean() }).optional(),
})

const storedRun = z.strictObject({
  ...provenanceFields,
  ...jobFields,
  pipeline: uid,
  /** The permission by which it began, where that was not to run what one chooses. */
  begun_by: z.literal('ingest:dispatch').optional(),
  dag_id: dagId,
  dag_run_id: dagRunId,
  repeats: repeatedRun.optional(),
  dag: assembledDag,
  dag_digest: z.string().length(64),
  ...pinnedFields,
  conf: z.record(z.string(), z.json()),
  logical_date: instant.optional(),
  state: workflowRunState,
  started_at: instant.optional(),
  ended_at: instant.optional(),
  /** Why it failed, where no task has the reason. */
  reason: z.string().max(4_096).optional(),
  tasks: z.array(runTask),
  /** The scheduler that has the run, of which this is the part that the site performs; an index. */
  part_of: z.literal('airflow').optional(),
  /** The folder of its datasets, which the workers of that scheduler name, and when the run began there, in epoch seconds. */
  worker_folder: shortText.optional(),
  worker_start: z.number().optional(),
  /** The tasks that its workers have handed over: the newest try of each. */
  requests: z.array(siteTaskTry).max(max_tasks).optional(),
  /** 1 while it is over and its metrics are not recorded; an index by which the worker finds it. */
  unmeasured: z.literal(1).optional(),
  /** The same for its lineage, which goes to the sinks of the profile. */
  unreported: z.literal(1).optional(),
  /** The same for its failure, which raises a signal. */
  unsignalled: z.literal(1).optional(),
})
export type StoredDagRun = z.infer<typeof storedRun>

export const dagRuns = collection({
  name: 'dag-run',
  schema: storedRun,
  indexes: ['pipeline', 'dag_id', 'state', 'part_of', 'unmeasured', 'unreported', 'unsignalled', ...job_indexes],
  orders: [['pipeline', 'created_at']],
  // If-Match of a request is about the pipeline.
  revision: () => undefined,
})

/** Lines of the newest try of a task. */
const storedLog = z.strictObject({ ...provenanceFields, run: uid, task: shortText, text: z.string().max(262_144) })
export const taskLogs = collection({ name: 'task-log', schema: storedLog, indexes: ['run'] })

/** The document of a run: each run of a DAG has an id that its trigger chooses. */
export function runDocumentId(pipeline: string, dag_run_id: string): string {
  return `${pipeline}.${dag_run_id}`
}

/** The folder of the datasets of a run: another run may have the id of one that was deleted. */
export function runFolderName({ id, value }: Pick<Doc<StoredDagRun>, 'id' | 'value'>): string {
  return value.worker_folder ?? `${id}.${Date.parse(value.created_at)}`
}

export function taskLogId(run: string, task: string): string {
  return `${run}.${task}`
}
