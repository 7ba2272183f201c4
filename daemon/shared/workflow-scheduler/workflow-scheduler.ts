// The contract of a workflow scheduler: DAGs, their runs and tasks, and connections, for one caller.
import * as z from 'zod'
import type { Refusal } from '../../kernel/error/errors.ts'
import { label } from '../../kernel/label/label.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { part } from '../../kernel/role/part.ts'
import { type AssembledDag, dagId } from '../assembled-dag/assembled-dag.ts'

const instant = z.iso.datetime({ offset: true })

/** States of a run, as Airflow names them. */
export const workflowRunState = z.enum(['queued', 'running', 'success', 'failed'])
export type WorkflowRunState = z.infer<typeof workflowRunState>

export const workflowTaskState = z.enum([...workflowRunState.options, 'up_for_retry', 'upstream_failed', 'skipped'])

export const workflowDag = z
  .strictObject({
    dag_id: dagId,
    is_paused: z.boolean(),
    is_active: z.boolean().meta({ description: 'Whether the scheduler has it now' }),
    next_run: instant.nullable().meta({ description: 'Next run by the interval of the DAG itself' }),
  })
  .meta({ id: 'WorkflowDag' })
export type WorkflowDag = z.infer<typeof workflowDag>

const count = z.int().min(0)
const digest = z.string().length(64)
export const gitCommit = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, 'must be the id of a commit')

/** Fields that pin the code of a run; absent for DAGs that became live in an earlier release, and at Airflow. */
export const pinnedFields = {
  commit: gitCommit.optional().meta({ description: 'Commit of the DAG repository that has the DAG' }),
  catalog_version: digest.optional().meta({ description: 'Version of the catalog of operators in that commit' }),
}

export const dagRunId = z.string().min(1).max(250)

/** The former run that a run repeats, and the code that it repeats it by. */
export const repeatedRun = z
  .strictObject({
    dag_run_id: dagRunId,
    code: z.enum(['pinned', 'latest']).meta({
      description: '`pinned`: the DAG at the commit of the former run; `latest`: the DAG that is live now',
    }),
  })
  .meta({ id: 'RepeatedRun' })
export type RepeatedRun = z.infer<typeof repeatedRun>

export const workflowRun = z
  .strictObject({
    dag_id: dagId,
    dag_run_id: dagRunId,
    state: workflowRunState,
    logical_date: instant.nullable(),
    start_date: instant.nullable(),
    end_date: instant.nullable(),
    conf: z.record(z.string(), z.json()),
    reason: z.string().optional().meta({ description: 'Why it failed, where no task has the reason' }),
    repeats: repeatedRun.optional().meta({ description: 'The former run that it repeats' }),
    classification: label.optional().meta({ description: 'Label of what it makes; absent at Airflow' }),
    ...pinnedFields,
  })
  .meta({ id: 'WorkflowRun' })
export type WorkflowRun = z.infer<typeof workflowRun>

/** What a task took and made, so that its result can be followed back. */
export const taskLineage = z
  .strictObject({
    catalog_version: digest.optional().meta({ description: 'Digest of the catalog of operators that performed it' }),
    dataset: z.string().optional().meta({ description: 'Name of the dataset that it made' }),
    file: z.string().optional().meta({ description: 'Name of the file that it wrote' }),
    digest: digest.meta({ description: 'SHA-256 of the description of that dataset, or of the file' }),
    rows_in: count.optional().meta({ description: 'Absent for a run of an earlier release' }),
    rows_out: count,
    rejects: count,
    bytes: count,
    inputs: z
      .array(z.strictObject({ name: z.string(), bytes: count, digest, rows: count.optional() }))
      .meta({ description: 'Files, or datasets of tasks before by the digests of their descriptions' }),
    checks: z
      .array(z.strictObject({ rule: z.string(), on_failure: z.string(), rows: count, failed: count }))
      .optional()
      .meta({ description: 'Rules by which rows were tested, and the rows for which each does not hold' }),
  })
  .meta({ id: 'TaskLineage' })
export type TaskLineage = z.infer<typeof taskLineage>

/** The object that another role of the site made for a task. */
export const requestedWork = z
  .strictObject({
    role: z.string().min(1).max(64),
    object: z.enum(['signal', 'fusion_run', 'sent_dataset']).meta({ description: 'Kind of the object that it made' }),
    uid: z.string().min(1).max(128),
  })
  .meta({ id: 'RequestedWork' })
export type RequestedWork = z.infer<typeof requestedWork>

export const workflowTask = z
  .strictObject({
    task_id: z.string(),
    state: workflowTaskState.nullable().meta({ description: 'Null while it waits for others' }),
    try_number: z.int().min(0),
    start_date: instant.nullable(),
    end_date: instant.nullable(),
    lineage: taskLineage.optional().meta({ description: 'Of a task that made something' }),
    requested: requestedWork.optional().meta({ description: 'Of a task that another role performed' }),
  })
  .meta({ id: 'WorkflowTask' })
export type WorkflowTask = z.infer<typeof workflowTask>

export type RunTrigger = {
  /** The same id starts one run, however often it is requested. */
  readonly dag_run_id: string
  readonly conf: Readonly<Record<string, unknown>>
  readonly logical_date?: string
  readonly repeats?: RepeatedRun
}

/** A DAG as callers name it; `pipeline`: the uid of the pipeline or effect that manages it, where the caller names that. */
export type DagRef = { readonly dag_id: string; readonly pipeline?: string }

/** `isWhole`: false where more runs match. */
export type RunPage = { readonly runs: readonly WorkflowRun[]; readonly isWhole: boolean }

/** `python`: the text of a DAG file, which Airflow alone runs. */
export type DagContent = AssembledDag | { readonly python: string }

/** A connection by which tasks read; `secret`: its secret fields, as JSON text. */
export type SchedulerConnection = {
  readonly id: string
  readonly conn_type: string
  readonly config: Readonly<Record<string, unknown>>
  readonly secret?: string
}

/** The connections that a scheduler keeps for its workers. Throws as `CallerScheduler` does. */
export interface SchedulerConnections {
  /** One that it has is replaced. */
  put(connection: SchedulerConnection): Promise<undefined | Refusal>
  /** One that it does not have is removed already. */
  remove(id: string): Promise<undefined | Refusal>
}

export type RunFilter = { readonly state?: WorkflowRunState | undefined; readonly limit: number }

/**
 * A scheduler as one caller may use it. Methods return a refusal for what the scheduler refuses: `not_found` for an
 * unknown DAG or run, `wrong_state`, `forbidden`; they throw `Refusal('unavailable')` where it does not answer.
 */
export interface CallerScheduler {
  /** Absent where tasks take connections from the site itself. */
  readonly connections?: SchedulerConnections
  listDags(filter: { readonly active_only: boolean }): Promise<readonly WorkflowDag[]>
  findDag(dag: DagRef): Promise<WorkflowDag | undefined>
  /**
   * Gives the scheduler the content that a deployment made live, or again the same. It may take minutes until `findDag` shows it
   * as active.
   */
  putDag(dag: DagRef, content: DagContent): Promise<undefined | Refusal>
  /** Runs of a paused DAG wait. */
  setPaused(dag: DagRef, isPaused: boolean): Promise<WorkflowDag | Refusal>
  /** Removes a DAG with its runs; refuses `wrong_state` while one is active. */
  removeDag(dag: DagRef): Promise<undefined | Refusal>
  /**
   * Refuses `not_found` where there is not the run that it repeats, `wrong_state` where the code of that cannot run any more, and
   * `invalid` for pinned code where the scheduler has live DAGs alone.
   */
  trigger(dag: DagRef, trigger: RunTrigger): Promise<WorkflowRun | Refusal>
  /** Newest first. */
  listRuns(dag: DagRef, filter: RunFilter): Promise<RunPage | Refusal>
  findRun(dag: DagRef, dag_run_id: string): Promise<WorkflowRun | undefined>
  /** Ends an active run as failed; one that is over stays as it is. */
  stopRun(dag: DagRef, dag_run_id: string): Promise<WorkflowRun | Refusal>
  /** Stops and removes a run. */
  deleteRun(dag: DagRef, dag_run_id: string): Promise<undefined | Refusal>
  listTasks(dag: DagRef, dag_run_id: string): Promise<readonly WorkflowTask[] | Refusal>
  /** The end of the log of the newest try, bounded. */
  readLog(dag: DagRef, dag_run_id: string, task_id: string): Promise<string | Refusal>
}

export type WorkflowHealth = {
  readonly scheduler: 'healthy' | 'unhealthy'
  readonly metadatabase: 'healthy' | 'unhealthy'
  readonly detail?: string
}

/** The clock of a scheduler by which the site evaluates its schedules. */
export interface ScheduleTicks {
  /**
   * The time that the newest tick is for, in UTC; undefined before the first. Gives the scheduler what ticks, before. Throws
   * `Refusal('unavailable')` with the reason where one of both cannot be done.
   */
  look(): Promise<string | undefined>
  /** Receives when the site noticed the newest tick, in epoch milliseconds. */
  find(noticed_ts: number | undefined): unknown
}

export interface WorkflowScheduler {
  readonly kind: 'airflow' | 'embedded'
  /** Absent where schedules are evaluated by the clock of the site. */
  readonly ticks?: ScheduleTicks
  /** By a request of no caller. Throws `Refusal('unavailable')` where it does not answer. */
  health(signal: AbortSignal): Promise<WorkflowHealth>
  /** The scheduler with the rights of the caller. */
  actFor(call: Call): CallerScheduler
}

export const workflowSchedulerPart = part<WorkflowScheduler>('workflow-scheduler')
