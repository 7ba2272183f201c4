// The embedded scheduler: DAGs are those of the pipelines of the site, and runs are jobs of this role.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type {
  CallerScheduler,
  RunFilter,
  RunTrigger,
  WorkflowDag,
  WorkflowRun,
  WorkflowScheduler,
  WorkflowTask,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { pipelines, type StoredPipeline } from '../datapipeline/model.ts'
import { runTotal } from '../metrics.ts'
import { dagRuns, type RunTask, runDocumentId, type StoredDagRun } from './model.ts'
import { stopRun } from './rules.ts'
import { readTaskLog } from './task-log.ts'

export const embeddedScheduler: WorkflowScheduler = {
  kind: 'embedded',
  health: async () => ({ scheduler: 'healthy', metadatabase: 'healthy' }),
  actFor: (call) => new EmbeddedCallerScheduler(call),
}

class EmbeddedCallerScheduler implements CallerScheduler {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  async listDags({ active_only }: { readonly active_only: boolean }): Promise<WorkflowDag[]> {
    const dags: WorkflowDag[] = []
    for await (const doc of iterateDocuments(this.#call.store(pipelines), { fresh: true })) {
      const dag = showDag(doc.value)
      if (dag && !(active_only && dag.is_paused)) dags.push(dag)
    }
    return dags
  }

  async findDag(dag_id: string): Promise<WorkflowDag | undefined> {
    const doc = await this.#findPipeline(dag_id)
    return doc && showDag(doc.value)
  }

  async setPaused(dag_id: string, isPaused: boolean): Promise<WorkflowDag | Refusal> {
    const doc = await this.#findPipeline(dag_id)
    if (!doc) return refuseUnknownDag(dag_id)
    const { doc: changed } = await this.#call.store(pipelines).update(doc.id, ({ value }) => ({
      ...(value.is_paused === isPaused
        ? {}
        : { next: { ...value, is_paused: isPaused, updated_at: this.#call.nowIso() } }),
      answer: undefined,
    }))
    return showDag(changed.value) ?? refuseUnknownDag(dag_id)
  }

  async trigger(dag_id: string, { dag_run_id, conf, logical_date }: RunTrigger): Promise<WorkflowRun | Refusal> {
    const call = this.#call
    const pipeline = await this.#findPipeline(dag_id)
    const dag = pipeline?.value.dag
    if (!pipeline || !dag) return refuseUnknownDag(dag_id)
    const id = runDocumentId(pipeline.id, dag_run_id)
    const before = await call.store(dagRuns).find(id)
    if (before) return showRun(before)
    const principal = await call.delegation().store({ collection: dagRuns.name, id })
    if (isRefusal(principal)) return principal
    const at = call.nowIso()
    const { tenant_id, label, dag_digest } = pipeline.value
    const stored = await call.store(dagRuns).create(
      id,
      {
        ...{ tenant_id, label, created_by: call.caller.subject, created_at: at, updated_at: at },
        ...{ pipeline: pipeline.id, dag_id, dag_run_id, dag, dag_digest, conf: { ...conf } as StoredDagRun['conf'] },
        ...(logical_date === undefined ? {} : { logical_date }),
        state: 'queued',
        tasks: dag.tasks.map(({ name }) => ({ name, tries: 0 })),
        ...newJob(principal, call.now()),
      },
      [call.audited(call.address, id, { dag_id, dag_run_id }, label)],
    )
    if (stored === 'exists') return showRun(await call.store(dagRuns).get(id))
    call.count(runTotal, { state: 'queued' })
    announceJob(call, dagRuns, stored)
    return showRun(stored)
  }

  async listRuns(dag_id: string, { state, limit }: RunFilter): Promise<WorkflowRun[] | Refusal> {
    if (!(await this.#findPipeline(dag_id))) return refuseUnknownDag(dag_id)
    const { docs } = await this.#call.store(dagRuns).list({
      filter: { dag_id, ...(state === undefined ? {} : { state }) },
      order: { field: 'created_at', direction: 'desc' },
      limit,
      fresh: true,
    })
    return docs.map(showRun)
  }

  async findRun(dag_id: string, dag_run_id: string): Promise<WorkflowRun | undefined> {
    const doc = await this.#findRun(dag_id, dag_run_id)
    return doc && showRun(doc)
  }

  async stopRun(dag_id: string, dag_run_id: string): Promise<WorkflowRun | Refusal> {
    const doc = await this.#findRun(dag_id, dag_run_id)
    if (!doc) return refuseUnknownRun(dag_id, dag_run_id)
    const call = this.#call
    const { doc: stopped } = await call.store(dagRuns).update(doc.id, ({ value }) => {
      const next = stopRun(value, call.nowIso())
      if (next === value) return { answer: undefined }
      return {
        next,
        answer: undefined,
        audit: [call.audited(call.address, doc.id, { dag_id, dag_run_id }, value.label)],
      }
    })
    announceJob(call, dagRuns, stopped)
    return showRun(stopped)
  }

  async deleteRun(dag_id: string, dag_run_id: string): Promise<undefined | Refusal> {
    const stopped = await this.stopRun(dag_id, dag_run_id)
    if (isRefusal(stopped)) return stopped
    const doc = await this.#findRun(dag_id, dag_run_id)
    if (doc) await this.#call.store(dagRuns).remove(doc.id)
    return undefined
  }

  async listTasks(dag_id: string, dag_run_id: string): Promise<WorkflowTask[] | Refusal> {
    const doc = await this.#findRun(dag_id, dag_run_id)
    return doc ? doc.value.tasks.map(showTask) : refuseUnknownRun(dag_id, dag_run_id)
  }

  async readLog(dag_id: string, dag_run_id: string, task_id: string): Promise<string | Refusal> {
    const doc = await this.#findRun(dag_id, dag_run_id)
    if (!doc) return refuseUnknownRun(dag_id, dag_run_id)
    if (!doc.value.tasks.some(({ name }) => name === task_id))
      return refuse('not_found', `the run ${dag_run_id} has no task ${task_id}`)
    return await readTaskLog(this.#call, doc, task_id)
  }

  async #findPipeline(dag_id: string): Promise<Doc<StoredPipeline> | undefined> {
    const { docs } = await this.#call.store(pipelines).list({ filter: { dag_id }, limit: 1, fresh: true })
    return docs[0]
  }

  async #findRun(dag_id: string, dag_run_id: string): Promise<Doc<StoredDagRun> | undefined> {
    const pipeline = await this.#findPipeline(dag_id)
    return pipeline && (await this.#call.store(dagRuns).find(runDocumentId(pipeline.id, dag_run_id)))
  }
}

function refuseUnknownDag(dag_id: string): Refusal {
  return refuse('not_found', `the scheduler has no DAG ${dag_id}`)
}

function refuseUnknownRun(dag_id: string, dag_run_id: string): Refusal {
  return refuse('not_found', `the DAG ${dag_id} has no run ${dag_run_id}`)
}

/** Undefined for a pipeline whose DAG is not live yet. */
function showDag({ dag_id, dag, is_paused }: StoredPipeline): WorkflowDag | undefined {
  // An assembled DAG has no interval of its own: the schedule of its pipeline triggers it.
  return dag && { dag_id, is_paused, is_active: true, next_run: null }
}

function showRun({ value }: Doc<StoredDagRun>): WorkflowRun {
  const { dag_id, dag_run_id, state, logical_date = null, started_at = null, ended_at = null, conf } = value
  return { dag_id, dag_run_id, state, logical_date, start_date: started_at, end_date: ended_at, conf }
}

function showTask({ name, state, tries, started_at, ended_at }: RunTask): WorkflowTask {
  const [start_date, end_date] = [started_at ?? null, ended_at ?? null]
  return { task_id: name, state: state ?? null, try_number: tries, start_date, end_date }
}
