// Airflow as a workflow scheduler: each request has the rights of its caller at Airflow, and never those of the site.
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type {
  CallerScheduler,
  DagContent,
  DagRef,
  RunFilter,
  RunPage,
  RunTrigger,
  WorkflowDag,
  WorkflowHealth,
  WorkflowRun,
  WorkflowScheduler,
  WorkflowTask,
} from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { AirflowClient, type AirflowServer, interfacePath } from './airflow-client.ts'
import { AirflowConnections } from './airflow-connections.ts'
import { AirflowRuns, page_size } from './airflow-runs.ts'
import type { DagFolder } from './dag-folder.ts'
import { type DagNames, isManagedName, managedName, type NamedDag } from './dag-names.ts'
import { type AirflowVersion, dagAnswer, dagPage, type Generation, generations, healthAnswer } from './generation.ts'
import type { RunWatch } from './run-watch.ts'
import { showDag } from './show-answers.ts'

export type AirflowOptions = AirflowServer & {
  readonly version: AirflowVersion
  readonly folder: DagFolder
  readonly names: DagNames
  readonly watch: RunWatch
}

/** Airflow may have more; they are not listed. */
const max_dags = 5_000

export function airflowScheduler(options: AirflowOptions): WorkflowScheduler & { close(): void } {
  const client = new AirflowClient(options)
  const generation = generations[options.version]
  return {
    kind: 'airflow',
    async health(signal): Promise<WorkflowHealth> {
      const { scheduler, metadatabase } = await client.getOpenly(generation.health, healthAnswer, signal)
      const stateOf = (status: string | null) => (status === 'healthy' ? 'healthy' : 'unhealthy')
      return { scheduler: stateOf(scheduler.status), metadatabase: stateOf(metadatabase.status) }
    },
    actFor: (call) => new AirflowCallerScheduler(call, client, generation, options),
    close: () => client.close(),
  }
}

class AirflowCallerScheduler implements CallerScheduler {
  readonly connections: AirflowConnections
  readonly #call: Call
  readonly #client: AirflowClient
  readonly #generation: Generation
  readonly #options: AirflowOptions

  constructor(call: Call, client: AirflowClient, generation: Generation, options: AirflowOptions) {
    this.connections = new AirflowConnections(call, client, generation.version)
    this.#call = call
    this.#client = client
    this.#generation = generation
    this.#options = options
  }

  async putDag(ref: DagRef, content: DagContent): Promise<undefined | Refusal> {
    const named = await this.#find(ref)
    if (!named?.managed) return refuseUnknownDag(ref)
    await this.#options.folder.put(named.managed, content)
    return undefined
  }

  async listDags({ active_only }: { readonly active_only: boolean }): Promise<WorkflowDag[]> {
    const managed = new Map<string, NamedDag>()
    for await (const each of this.#options.names.list(this.#call))
      managed.set(managedName(each), { airflow_id: managedName(each), dag_id: each.dag_id, managed: each })
    const dags: WorkflowDag[] = []
    for (let offset = 0; offset < max_dags; offset += page_size) {
      const query = { limit: page_size, offset, ...(active_only ? { paused: false } : {}) }
      const page = await this.#client.get(this.#call, { path: this.#path(), query }, dagPage)
      for (const answer of page?.dags ?? []) {
        const named = managed.get(answer.dag_id) ?? nameOfOther(answer.dag_id)
        const dag = named && showDag(named, answer)
        if (dag && !(active_only && dag.is_paused)) dags.push(dag)
      }
      if (!page || page.dags.length === 0 || offset + page_size >= page.total_entries) break
    }
    return dags
  }

  async findDag(ref: DagRef): Promise<WorkflowDag | undefined> {
    const named = await this.#find(ref)
    if (!named) return undefined
    const answer = await this.#client.get(this.#call, { path: this.#path(named.airflow_id) }, dagAnswer)
    return answer && showDag(named, answer)
  }

  async setPaused(ref: DagRef, isPaused: boolean): Promise<WorkflowDag | Refusal> {
    const named = await this.#find(ref)
    if (!named) return refuseUnknownDag(ref)
    const path = this.#path(named.airflow_id)
    const change = {
      method: 'PATCH',
      path,
      query: { update_mask: 'is_paused' },
      body: { is_paused: isPaused },
    } as const
    const answer = await this.#client.request(this.#call, change)
    if (isRefusal(answer)) return answer
    return (answer && (await this.findDag(ref))) ?? refuseUnknownDag(ref)
  }

  async removeDag(ref: DagRef): Promise<undefined | Refusal> {
    const named = await this.#find(ref)
    if (!named) return undefined
    const runs = this.#runsOf(named)
    for (const state of ['queued', 'running'] as const) {
      const active = await runs.list({ state, limit: 1 })
      if (!isRefusal(active) && active.runs.length > 0)
        return refuse('wrong_state', 'the DAG has an active run: stop it first')
    }
    // Before the DAG: Airflow would find it in the file again.
    if (named.managed) await this.#options.folder.remove(named.managed.uid)
    const answer = await this.#client.request(this.#call, { method: 'DELETE', path: this.#path(named.airflow_id) })
    return isRefusal(answer) ? answer : undefined
  }

  async trigger(ref: DagRef, trigger: RunTrigger): Promise<WorkflowRun | Refusal> {
    return (await (await this.#openRuns(ref))?.begin(trigger)) ?? refuseUnknownDag(ref)
  }

  async listRuns(ref: DagRef, filter: RunFilter): Promise<RunPage | Refusal> {
    return (await (await this.#openRuns(ref))?.list(filter)) ?? refuseUnknownDag(ref)
  }

  async findRun(ref: DagRef, dag_run_id: string): Promise<WorkflowRun | undefined> {
    return await (await this.#openRuns(ref))?.find(dag_run_id)
  }

  async stopRun(ref: DagRef, dag_run_id: string): Promise<WorkflowRun | Refusal> {
    return (await (await this.#openRuns(ref))?.stop(dag_run_id)) ?? refuseUnknownDag(ref)
  }

  async deleteRun(ref: DagRef, dag_run_id: string): Promise<undefined | Refusal> {
    const runs = await this.#openRuns(ref)
    return runs ? await runs.remove(dag_run_id) : refuseUnknownDag(ref)
  }

  async listTasks(ref: DagRef, dag_run_id: string): Promise<readonly WorkflowTask[] | Refusal> {
    return (await (await this.#openRuns(ref))?.listTasks(dag_run_id)) ?? refuseUnknownDag(ref)
  }

  async readLog(ref: DagRef, dag_run_id: string, task_id: string): Promise<string | Refusal> {
    return (await (await this.#openRuns(ref))?.readLog(dag_run_id, task_id)) ?? refuseUnknownDag(ref)
  }

  async #openRuns(ref: DagRef): Promise<AirflowRuns | undefined> {
    const named = await this.#find(ref)
    return named && this.#runsOf(named)
  }

  #runsOf(named: NamedDag): AirflowRuns {
    return new AirflowRuns(this.#call, this.#client, {
      generation: this.#generation,
      named,
      watch: this.#options.watch,
    })
  }

  /** By its object where the caller sees one, else by the name that it has at Airflow. */
  async #find(ref: DagRef): Promise<NamedDag | undefined> {
    const managed = await this.#options.names.find(this.#call, ref)
    if (managed) return { airflow_id: managedName(managed), dag_id: managed.dag_id, managed }
    return ref.pipeline === undefined ? nameOfOther(ref.dag_id) : undefined
  }

  #path(...parts: readonly string[]): string {
    return interfacePath(this.#generation.version, 'dags', ...parts)
  }
}

/** A DAG that no site manages; one that a site does, and this caller does not see, is hidden by its name. */
function nameOfOther(airflow_id: string): NamedDag | undefined {
  return isManagedName(airflow_id) ? undefined : { airflow_id, dag_id: airflow_id }
}

function refuseUnknownDag({ dag_id }: DagRef): Refusal {
  return refuse('not_found', `the scheduler has no DAG ${dag_id}`)
}
