// A task that a worker of another scheduler hands to the site, and the result of a task, as both exchange them.
import * as z from 'zod'
import { max_tasks, taskName } from '../../../shared/assembled-dag/assembled-dag.ts'
import { dagRunId, requestedWork, taskLineage } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { landedSummary } from '../dataset/model.ts'
import { uid } from '../fields.ts'

/** What a worker names: the code and the rights are those that the site has of the run. */
export const siteTaskRequest = z.strictObject({
  format: z.literal(1),
  pipeline: uid,
  dag_run_id: dagRunId,
  /** The name of the run on workers, as `platform ingest step` has it; its datasets are in a folder of it. */
  run: z.string().min(1).max(512),
  /** Of the DAG that the worker has. */
  dag_digest: z.string().regex(/^[0-9a-f]{64}$/),
  task: taskName,
  /** The try, as the scheduler counts them. */
  attempt: z.int().min(1).max(100_000),
  /** Without what they were made of: a request is small, since the service reads it. */
  inputs: z.array(landedSummary.omit({ inputs: true, checks: true })).max(max_tasks),
})
export type SiteTaskRequest = z.infer<typeof siteTaskRequest>

/** What stays of a try: on success what it made, as tasks after it take it. */
export const stepResult = z.strictObject({
  format: z.literal(1),
  task: taskName,
  state: z.enum(['success', 'failed']),
  log: z.string(),
  dataset: landedSummary.optional(),
  lineage: taskLineage.optional(),
  requested: requestedWork.optional(),
  failure: z.strictObject({ reason: z.string(), is_final: z.boolean() }).optional(),
})
export type StepResult = z.infer<typeof stepResult>
