// Runs of one DAG at Airflow, and their tasks.
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type {
  RunFilter,
  RunPage,
  RunTrigger,
  WorkflowRun,
  WorkflowTask,
} from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { type AirflowClient, interfacePath } from './airflow-client.ts'
import type { NamedDag } from './dag-names.ts'
import { type Generation, runAnswer, runPage, taskPage } from './generation.ts'
import { describeRepetition } from './run-note.ts'
import type { RunWatch } from './run-watch.ts'
import { showRun, showTask } from './show-answers.ts'
import { readResult, readTaskLog } from './task-results.ts'

/** Airflow gives at most as many at once. */
export const page_size = 100
/** An assembled DAG has fewer; of another one the rest is not shown. */
const max_shown_tasks = 2_000
/** Requests for results of tasks at a time. */
const results_at_once = 8

function returnRefusal(error: unknown): Refusal {
  if (isRefusal(error)) return error
  throw error
}

/** Airflow has no other file of a DAG than the live one. */
function refusePinnedCode(): Refusal {
  return refuse('invalid', 'Airflow runs the live DAG alone: a former run is run again with the latest code', [
    { path: 'repeats.code', message: 'must be latest where Airflow runs DAGs' },
  ])
}

type WatchedRuns = { readonly generation: Generation; readonly named: NamedDag; readonly watch: RunWatch }

/** The rights are those of the caller at Airflow. */
export class AirflowRuns {
  readonly #call: Call
  readonly #client: AirflowClient
  readonly #generation: Generation
  readonly #named: NamedDag
  readonly #watch: RunWatch

  constructor(call: Call, client: AirflowClient, { generation, named, watch }: WatchedRuns) {
    this.#call = call
    this.#client = client
    this.#generation = generation
    this.#named = named
    this.#watch = watch
  }

  async list({ state, limit }: RunFilter): Promise<RunPage | Refusal> {
    const runs: WorkflowRun[] = []
    for (;;) {
      const page = await this.#client.get(
        this.#call,
        {
          path: this.#path(),
          query: {
            ...{ state, order_by: this.#generation.run_order, offset: runs.length },
            limit: Math.min(page_size, limit - runs.length),
          },
        },
        runPage,
      )
      // Airflow may not have read the file of a managed one yet.
      if (!page) return this.#named.managed ? { runs, isWhole: true } : this.#refuseUnknownDag()
      runs.push(...page.dag_runs.map((answer) => showRun(this.#named, answer)))
      const isWhole = runs.length >= page.total_entries || page.dag_runs.length === 0
      if (isWhole || runs.length >= limit) return { runs: runs.slice(0, limit), isWhole }
    }
  }

  async find(dag_run_id: string): Promise<WorkflowRun | undefined> {
    const answer = await this.#client.get(this.#call, { path: this.#path(dag_run_id) }, runAnswer)
    return answer && showRun(this.#named, answer)
  }

  async begin(trigger: RunTrigger): Promise<WorkflowRun | Refusal> {
    const { dag_run_id, conf, logical_date, repeats } = trigger
    if (repeats?.code === 'pinned') return refusePinnedCode()
    const before = await this.find(dag_run_id)
    if (before) return before
    if (repeats && !(await this.find(repeats.dag_run_id))) return this.#refuseUnknown(repeats.dag_run_id)
    const { managed } = this.#named
    const refused = managed && (await this.#watch.begin(this.#call, managed, trigger))
    if (refused) return refused
    await this.#record(dag_run_id)
    const body = {
      ...{ dag_run_id, conf, ...this.#generation.date_of_run(logical_date) },
      ...(repeats && { note: describeRepetition(repeats) }),
    }
    const answer = await this.#client
      .request(this.#call, { method: 'POST', path: this.#path(), body })
      .catch(returnRefusal)
    if (answer === undefined) return this.#refuseUnknownDag()
    // Another request with the id came first, which Airflow 3 may answer with 500, or the answer to one before was lost.
    if (isRefusal(answer) && answer.code !== 'wrong_state' && answer.code !== 'unavailable') return answer
    return (await this.find(dag_run_id)) ?? (isRefusal(answer) ? answer : this.#refuseUnknown(dag_run_id))
  }

  async stop(dag_run_id: string): Promise<WorkflowRun | Refusal> {
    const run = await this.find(dag_run_id)
    if (!run) return this.#refuseUnknown(dag_run_id)
    if (run.state === 'success' || run.state === 'failed') return run
    const { managed } = this.#named
    const isMarked = managed && (await this.#watch.stop(this.#call, managed, dag_run_id))
    await this.#record(dag_run_id)
    const change = { method: 'PATCH', path: this.#path(dag_run_id), body: { state: 'failed' } } as const
    const answer = await this.#client.request(this.#call, change).catch(returnRefusal)
    // Without an answer, it may have been stopped.
    if (isMarked && isRefusal(answer) && answer.code !== 'unavailable')
      await this.#watch.goOn(this.#call, managed, dag_run_id)
    // Of a run that goes on, a conflict is of this moment.
    if (isRefusal(answer)) return answer.code === 'wrong_state' ? refuse('unavailable', answer.message) : answer
    if (managed) await this.#watch.look(this.#call, managed, dag_run_id)
    return (await this.find(dag_run_id)) ?? this.#refuseUnknown(dag_run_id)
  }

  async remove(dag_run_id: string): Promise<undefined | Refusal> {
    const stopped = await this.stop(dag_run_id)
    if (isRefusal(stopped)) return stopped
    const { managed } = this.#named
    if (managed) {
      const tasks = await this.listTasks(dag_run_id)
      if (!isRefusal(tasks)) await this.#watch.settle(this.#call, managed, { run: stopped, tasks })
    }
    await this.#record(dag_run_id)
    const answer = await this.#client.request(this.#call, { method: 'DELETE', path: this.#path(dag_run_id) })
    return isRefusal(answer) ? answer : undefined
  }

  async listTasks(dag_run_id: string): Promise<WorkflowTask[] | Refusal> {
    const tasks = await this.#listStates(dag_run_id)
    if (isRefusal(tasks) || !this.#named.managed) return tasks
    const shown: WorkflowTask[] = []
    for (let at = 0; at < tasks.length; at += results_at_once) {
      const some = tasks.slice(at, at + results_at_once)
      shown.push(...(await Promise.all(some.map((task) => this.#addResult(dag_run_id, task)))))
    }
    return shown
  }

  /** Of its newest try. */
  async readLog(dag_run_id: string, task_id: string): Promise<string | Refusal> {
    const tasks = await this.#listStates(dag_run_id)
    if (isRefusal(tasks)) return tasks
    const task = tasks.find((each) => each.task_id === task_id)
    if (!task) return refuse('not_found', `the run ${dag_run_id} has no task ${task_id}`)
    const place = { path: this.#path(dag_run_id, 'taskInstances', task_id), attempt: task.try_number }
    return await readTaskLog(this.#client, this.#call, { ...place, generation: this.#generation })
  }

  async #listStates(dag_run_id: string): Promise<WorkflowTask[] | Refusal> {
    const path = this.#path(dag_run_id, 'taskInstances')
    const tasks: WorkflowTask[] = []
    for (;;) {
      const page = await this.#client.get(
        this.#call,
        { path, query: { limit: page_size, offset: tasks.length } },
        taskPage,
      )
      if (!page) return this.#refuseUnknown(dag_run_id)
      tasks.push(...page.task_instances.map(showTask))
      if (tasks.length >= Math.min(page.total_entries, max_shown_tasks) || page.task_instances.length === 0)
        return tasks
    }
  }

  async #addResult(dag_run_id: string, task: WorkflowTask): Promise<WorkflowTask> {
    if (task.state !== 'success') return task
    const path = this.#path(dag_run_id, 'taskInstances', task.task_id)
    return { ...task, ...(await readResult(this.#client, this.#call, path)) }
  }

  /** Before the request: the audit log has what was requested, also where the answer was lost. */
  async #record(dag_run_id: string): Promise<void> {
    const { dag_id, airflow_id, managed } = this.#named
    const target = managed?.uid ?? airflow_id
    await this.#call.record([this.#call.audited(this.#call.address, target, { dag_id, dag_run_id }, managed?.label)])
  }

  #path(...parts: readonly string[]): string {
    return interfacePath(this.#generation.version, 'dags', this.#named.airflow_id, 'dagRuns', ...parts)
  }

  #refuseUnknownDag(): Refusal {
    return refuse('not_found', `the scheduler has no DAG ${this.#named.dag_id}`)
  }

  #refuseUnknown(dag_run_id: string): Refusal {
    return refuse('not_found', `the DAG ${this.#named.dag_id} has no run ${dag_run_id}`)
  }
}
