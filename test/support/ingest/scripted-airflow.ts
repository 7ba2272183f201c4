// A server with the interface of Airflow 3 for runs, whose runs go as the test decides.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeTick } from '../../../daemon/offline/ingest/write-tick.ts'

export type ScriptedTask = {
  readonly task_id: string
  readonly state: string | null
  readonly try_number: number
  readonly start_date?: string
  readonly end_date?: string
  /** What the task returned. */
  readonly result?: object
}

export type ScriptedRun = {
  readonly dag_id: string
  readonly dag_run_id: string
  state: string
  start_date?: string
  end_date?: string
  tasks?: readonly ScriptedTask[]
}

export type ScriptedAirflow = {
  readonly base_url: string
  /** By `dag_run_id`. */
  readonly runs: Map<string, ScriptedRun>
  /** Looks at runs, by `dag_run_id`. */
  readonly looks: string[]
  /** In place of an answer to a trigger; the run is there. */
  onTrigger: ((response: ServerResponse) => void) | undefined
  /** In place of an answer to a change of a run: this status. */
  refusalOfChange: number | undefined
  /** In place of any answer: this status. */
  refusal: number | undefined
  close(): void
}

const place =
  /^\/api\/v2\/dags\/([^/]+)\/dagRuns(?:\/([^/]+)(?:\/taskInstances(?:\/([^/]+)\/xcomEntries\/return_value)?)?)?$/

export async function openScriptedAirflow(): Promise<ScriptedAirflow> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = pieces.length === 0 ? {} : JSON.parse(Buffer.concat(pieces).toString())
    const { pathname } = new URL(request.url ?? '', 'http://airflow')
    const [, dag_id = '', name, task] = place.exec(decodeURIComponent(pathname)) ?? []
    answer(response, { method: request.method ?? '', pathname, dag_id, name, task, body })
  })
  const show = (response: ServerResponse, status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const answer = (response: ServerResponse, request: ScriptedRequest) => {
    const { method, pathname, dag_id, name, task, body } = request
    if (world.refusal !== undefined) return show(response, world.refusal, {})
    const healthy = { status: 'healthy' }
    if (pathname.endsWith('/health')) return show(response, 200, { metadatabase: healthy, scheduler: healthy })
    const run = world.runs.get(name ?? '')
    if (method === 'POST') {
      world.runs.set(body.dag_run_id, { dag_id, dag_run_id: body.dag_run_id, state: 'queued' })
      return world.onTrigger ? world.onTrigger(response) : show(response, 200, {})
    }
    if (name === undefined && dag_id !== '') return show(response, 200, listRuns(world.runs, dag_id))
    if (!run) return show(response, 404, {})
    if (task !== undefined) {
      const { result } = run.tasks?.find(({ task_id }) => task_id === task) ?? {}
      return result ? show(response, 200, { value: JSON.stringify(result) }) : show(response, 404, {})
    }
    if (pathname.endsWith('/taskInstances')) {
      const { tasks = [] } = run
      return show(response, 200, { task_instances: tasks, total_entries: tasks.length })
    }
    if (method === 'PATCH' && world.refusalOfChange !== undefined) return show(response, world.refusalOfChange, {})
    if (method === 'DELETE') world.runs.delete(run.dag_run_id)
    if (method === 'PATCH') run.state = body.state
    if (method === 'GET') world.looks.push(run.dag_run_id)
    return show(response, 200, showRun(run))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const world: ScriptedAirflow = {
    ...{ base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, runs: new Map(), looks: [] },
    ...{ onTrigger: undefined, refusalOfChange: undefined, refusal: undefined },
    close: () => server.close().closeAllConnections(),
  }
  return world
}

type ScriptedRequest = {
  readonly method: string
  readonly pathname: string
  readonly dag_id: string
  readonly name: string | undefined
  readonly task: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: what the site sends, of which each request has another part
  readonly body: any
}

function showRun({ tasks: _tasks, ...run }: ScriptedRun) {
  return { ...run, conf: {} }
}

function listRuns(runs: ReadonlyMap<string, ScriptedRun>, dag_id: string) {
  const found = [...runs.values()].filter((run) => run.dag_id === dag_id)
  return { dag_runs: found.map(showRun), total_entries: found.length }
}

/** What the scheduler DAG does on a worker, for a test site. */
export function tickSite(folder: string, now_ms: number, site = 'alpha'): void {
  writeTick({ folder, site, at: new Date(now_ms).toISOString() })
}

/** Sections of the profile of a site whose pipelines run there. */
export function scriptedAirflowSections(base_url: string, folder: string) {
  return {
    identity: { audiences: { airflow: ['ingest'] } },
    ingest: {
      ...{ workflow_base_url: base_url, workflow_api_version: 'v2' },
      ...{ workflow_dag_folder: folder, worker_folder: folder },
    },
  }
}
