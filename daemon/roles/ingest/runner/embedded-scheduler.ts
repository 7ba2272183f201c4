// The embedded scheduler: DAGs are those of the pipelines and effects of the site, and runs are jobs of this role.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { permits } from '../../../kernel/identity/identity.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import type { JobFields } from '../../../kernel/job/job-fields.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type {
  CallerScheduler,
  DagContent,
  DagRef,
  RunFilter,
  RunPage,
  RunTrigger,
  WorkflowDag,
  WorkflowRun,
  WorkflowScheduler,
  WorkflowTask,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import { findManaged, iterateManaged } from '../managed-dag/find-managed.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { runTotal } from '../metrics.ts'
import { removePartialRun } from '../partial-run/begin-partial-run.ts'
import { faultPointPart } from '../parts.ts'
import { removeCursors } from '../read-cursor/hold-cursor.ts'
import { recordMetrics, removeMetrics } from '../run-metric/record-metrics.ts'
import { announceEnd } from './announce-end.ts'
import { dagRuns, type RunTask, runDocumentId, type StoredDagRun } from './model.ts'
import { removeEndedRun } from './remove-run.ts'
import { stopRun } from './rules.ts'
import { findRunCode, type RunCode } from './run-code.ts'
import { pickPinned, showLineage } from './show-lineage.ts'
import { readTaskLog } from './task-log.ts'
import { iterateActiveRuns, wakeRuns } from './wake-runs.ts'

/** Its health is that of the store, which the wire knows. */
export const embeddedScheduler: Omit<WorkflowScheduler, 'health'> = {
  kind: 'embedded',
  actFor: (call) => new EmbeddedCallerScheduler(call),
}

class EmbeddedCallerScheduler implements CallerScheduler {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  async listDags({ active_only }: { readonly active_only: boolean }): Promise<WorkflowDag[]> {
    const dags: WorkflowDag[] = []
    for await (const { value } of iterateManaged(this.#call)) {
      const dag = showDag(value)
      if (dag && !(active_only && dag.is_paused)) dags.push(dag)
    }
    return dags
  }

  async findDag(dag: DagRef): Promise<WorkflowDag | undefined> {
    const doc = await findManaged(this.#call, dag)
    return doc && showDag(doc.value)
  }

  /** The deployment has stored it where runs take it from. */
  async putDag(dag: DagRef, content: DagContent): Promise<undefined | Refusal> {
    if ('python' in content) return refuse('needs_airflow', 'the DAG is in Python, which Airflow alone runs')
    return (await this.findDag(dag)) ? undefined : refuseUnknownDag(dag)
  }

  async setPaused(dag: DagRef, isPaused: boolean): Promise<WorkflowDag | Refusal> {
    const call = this.#call
    const doc = await findManaged(this.#call, dag)
    if (!doc) return refuseUnknownDag(dag)
    const { doc: changed } = await call.store(collectionOfObject(doc.id)).update(doc.id, ({ value }) => {
      if (value.is_paused === isPaused) return { answer: undefined }
      const audit = [call.audited(call.address, doc.id, { is_paused: isPaused }, value.label)]
      return { next: { ...value, is_paused: isPaused, updated_at: call.nowIso() }, answer: undefined, audit }
    })
    // Runs of a paused pipeline wait for this.
    if (!isPaused) await wakeRuns(call, doc.id)
    return showDag(changed.value) ?? refuseUnknownDag(dag)
  }

  async removeDag(dag: DagRef): Promise<undefined | Refusal> {
    const call = this.#call
    const doc = await findManaged(this.#call, dag)
    if (!doc) return undefined
    for await (const _ of iterateActiveRuns(call, doc.id))
      return refuse('wrong_state', 'the DAG has an active run: stop it first')
    for await (const run of iterateDocuments(call.store(dagRuns), { filter: { pipeline: doc.id }, fresh: true }))
      await removeEndedRun(call, run)
    await removeCursors(call, doc.id)
    await removeMetrics(call, doc.id)
    return undefined
  }

  async trigger(dag: DagRef, trigger: RunTrigger): Promise<WorkflowRun | Refusal> {
    const call = this.#call
    const pipeline = await findManaged(this.#call, dag)
    if (!pipeline) return refuseUnknownDag(dag)
    const id = runDocumentId(pipeline.id, trigger.dag_run_id)
    const before = await this.#findRun(dag, trigger.dag_run_id)
    if (before) return showRun(before)
    // Of a trigger before the profile named Airflow no longer.
    await removePartialRun(call, id)
    const code = await findRunCode(call, pipeline, trigger.repeats)
    if (!code || isRefusal(code)) return code ?? refuseUnknownDag(dag)
    const principal = await call.delegation().store({ collection: dagRuns.name, id })
    if (isRefusal(principal)) return principal
    call.part(faultPointPart)('ingest-trigger-principal')
    const value = buildRun(call, pipeline, code, trigger)
    const audit = [call.audited(call.address, id, { dag_id: dag.dag_id, dag_run_id: trigger.dag_run_id }, value.label)]
    // That of a paused pipeline waits until it is resumed.
    const job = newJob(principal, pipeline.value.is_paused ? undefined : call.now())
    const stored = await call.store(dagRuns).create(id, { ...value, ...job }, audit)
    if (stored === 'exists') return showRun(await call.store(dagRuns).get(id))
    call.part(faultPointPart)('ingest-trigger-stored')
    call.count(runTotal, { state: 'queued' })
    announceJob(call, dagRuns, stored)
    return showRun(stored)
  }

  async listRuns(dag: DagRef, { state, limit }: RunFilter): Promise<RunPage | Refusal> {
    const pipeline = await findManaged(this.#call, dag)
    if (!pipeline) return refuseUnknownDag(dag)
    const { docs, next_cursor } = await this.#call.store(dagRuns).list({
      filter: { pipeline: pipeline.id, part_of: { exists: false }, ...(state === undefined ? {} : { state }) },
      order: { field: 'created_at', direction: 'desc' },
      limit,
      fresh: true,
    })
    return { runs: docs.map(showRun), isWhole: next_cursor === undefined }
  }

  async findRun(dag: DagRef, dag_run_id: string): Promise<WorkflowRun | undefined> {
    const doc = await this.#findRun(dag, dag_run_id)
    return doc && showRun(doc)
  }

  async stopRun(dag: DagRef, dag_run_id: string): Promise<WorkflowRun | Refusal> {
    const doc = await this.#findRun(dag, dag_run_id)
    if (!doc) return refuseUnknownRun(dag, dag_run_id)
    const call = this.#call
    const { doc: stopped, answer: hasStopped } = await call.store(dagRuns).update(doc.id, ({ value }) => {
      const next = stopRun(value, call.nowIso())
      if (next === value) return { answer: false }
      const audit = [call.audited(call.address, doc.id, { dag_id: dag.dag_id, dag_run_id }, value.label)]
      return { next, answer: true, audit }
    })
    if (hasStopped) announceEnd(call, 'failed')
    announceJob(call, dagRuns, stopped)
    return showRun(stopped)
  }

  async deleteRun(dag: DagRef, dag_run_id: string): Promise<undefined | Refusal> {
    const stopped = await this.stopRun(dag, dag_run_id)
    if (isRefusal(stopped)) return stopped
    const doc = await this.#findRun(dag, dag_run_id)
    const pipeline = await findManaged(this.#call, dag)
    if (!doc || !pipeline) return undefined
    const call = this.#call
    await recordMetrics(call, doc, pipeline)
    const event = call.audited(call.address, doc.id, { dag_id: dag.dag_id, dag_run_id }, doc.value.label)
    await removeEndedRun(call, doc, [event])
    return undefined
  }

  async listTasks(dag: DagRef, dag_run_id: string): Promise<WorkflowTask[] | Refusal> {
    const doc = await this.#findRun(dag, dag_run_id)
    return doc ? doc.value.tasks.map(showTask) : refuseUnknownRun(dag, dag_run_id)
  }

  async readLog(dag: DagRef, dag_run_id: string, task_id: string): Promise<string | Refusal> {
    const doc = await this.#findRun(dag, dag_run_id)
    if (!doc) return refuseUnknownRun(dag, dag_run_id)
    if (!doc.value.tasks.some(({ name }) => name === task_id))
      return refuse('not_found', `the run ${dag_run_id} has no task ${task_id}`)
    return await readTaskLog(this.#call, doc, task_id)
  }

  /** Undefined for the part of a run of another scheduler, which ends with the watch of that run. */
  async #findRun(dag: DagRef, dag_run_id: string): Promise<Doc<StoredDagRun> | undefined> {
    const pipeline = await findManaged(this.#call, dag)
    const doc = pipeline && (await this.#call.store(dagRuns).find(runDocumentId(pipeline.id, dag_run_id)))
    return doc?.value.part_of ? undefined : doc
  }
}

function buildRun(
  call: Call,
  { id: pipeline, value: { tenant_id, label, dag_id, deployed_by } }: Doc<ManagedDag>,
  code: RunCode,
  { dag_run_id, conf, logical_date, repeats }: RunTrigger,
): Omit<StoredDagRun, keyof JobFields> {
  const at = call.nowIso()
  return {
    ...{ tenant_id, label, created_by: call.caller.subject, created_at: at, updated_at: at },
    ...{ pipeline, dag_id, dag_run_id, ...code, conf: { ...conf } as StoredDagRun['conf'] },
    ...(logical_date === undefined ? {} : { logical_date }),
    ...(repeats && { repeats }),
    // Of a dispatched effect, by a service that may dispatch and not run: the job checks that it still may.
    ...(permits(call.caller.permissions, 'ingest:run') || !deployed_by ? {} : { begun_by: deployed_by }),
    state: 'queued',
    tasks: code.dag.tasks.map(({ name }) => ({ name, tries: 0, failures: 0 })),
  }
}

function refuseUnknownDag({ dag_id }: DagRef): Refusal {
  return refuse('not_found', `the scheduler has no DAG ${dag_id}`)
}

function refuseUnknownRun({ dag_id }: DagRef, dag_run_id: string): Refusal {
  return refuse('not_found', `the DAG ${dag_id} has no run ${dag_run_id}`)
}

/** Undefined for a pipeline whose DAG is not live yet. */
function showDag({ dag_id, dag, is_paused }: ManagedDag): WorkflowDag | undefined {
  // An assembled DAG has no interval of its own: the schedule of its pipeline triggers it.
  return dag && { dag_id, is_paused, is_active: true, next_run: null }
}

function showRun({ value }: Doc<StoredDagRun>): WorkflowRun {
  const { dag_id, dag_run_id, state, logical_date = null, started_at = null, ended_at = null, conf, reason } = value
  const times = { logical_date, start_date: started_at, end_date: ended_at }
  const { repeats, label } = value
  const of = { ...(repeats && { repeats }), classification: label, ...pickPinned(value) }
  const shown = { dag_id, dag_run_id, state, ...times, conf, ...of }
  return reason === undefined ? shown : { ...shown, reason }
}

function showTask(task: RunTask): WorkflowTask {
  const { name, state, tries, started_at, ended_at, requested } = task
  const [start_date, end_date] = [started_at ?? null, ended_at ?? null]
  const lineage = showLineage(task)
  const made = { ...(lineage && { lineage }), ...(requested && { requested }) }
  return { task_id: name, state: state ?? null, try_number: tries, start_date, end_date, ...made }
}
