// A worker of Airflow without Airflow: performs the tasks of a run by the DAG file of the site, as that file says.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { performStep } from '../../../daemon/offline/ingest/perform-step.ts'
import type { StepResult } from '../../../daemon/roles/ingest/partial-run/model.ts'
import type { DagTask } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import type { ScriptedAirflow } from './scripted-airflow.ts'

type Specification = {
  readonly tenant_id: string
  readonly pipeline: string
  readonly tasks: readonly DagTask[]
  readonly site?: { readonly name: string; readonly dag_digest: string; readonly tasks: readonly string[] }
}

export type WorkerOptions = {
  /** Of DAG files. */
  readonly dags: string
  /** That workers share with the site. */
  readonly folder: string
  readonly dataFolder?: string
  readonly signal?: AbortSignal
}

/** The literal of the file: a text of Python that JSON reads alike. */
export function readSpecification(dags: string, uid: string): Specification {
  const text = readFileSync(path.join(dags, `platform_${uid}.py`), 'utf8')
  const [, literal = ''] = /SPECIFICATION = json\.loads\((".*")\)\n/.exec(text) ?? []
  return JSON.parse(JSON.parse(literal))
}

/** `started`: the start of the run, by which it differs from another one of its name. */
export function runNameOf(pipeline: string, dag_run_id: string, started = 1): string {
  return `${pipeline}.${dag_run_id}.${started}`
}

/** One try of a task. */
export async function performAt(
  { dags, folder, dataFolder, signal = new AbortController().signal }: WorkerOptions,
  of: { readonly uid: string; readonly dag_run_id: string; readonly task: string; readonly attempt?: number },
  inputs: readonly object[] = [],
): Promise<StepResult> {
  const { uid, dag_run_id, attempt = 1 } = of
  const { tenant_id, pipeline, tasks, site } = readSpecification(dags, uid)
  const task = tasks.find(({ name }) => name === of.task)
  if (!task) throw new Error(`the DAG has no task ${of.task}`)
  const known = { format: 1, tenant_id, pipeline, run: runNameOf(pipeline, dag_run_id), task, inputs }
  const isOfSite = site?.tasks.includes(of.task)
  const at = isOfSite && { name: site?.name, dag_digest: site?.dag_digest, dag_run_id, attempt }
  const document = JSON.stringify(at ? { ...known, site: at } : known)
  const limits = { trustedNetworks: [], memory_mb: 512, limit_s: undefined, outputFolder: undefined }
  return await performStep({ document, folder, dataFolder, signal, ...limits }, () => undefined)
}

/** Each task once, in the order of the file; Airflow shows what they returned, and then the end of the run. */
export async function performRun(
  airflow: ScriptedAirflow,
  options: WorkerOptions,
  of: { readonly uid: string; readonly dag_run_id: string },
): Promise<readonly StepResult[]> {
  const run = airflow.runs.get(of.dag_run_id)
  if (!run) throw new Error(`Airflow has no run ${of.dag_run_id}`)
  run.state = 'running'
  const results: StepResult[] = []
  for (const { name, after } of readSpecification(options.dags, of.uid).tasks) {
    const inputs = results.flatMap(({ task, dataset }) => (dataset && after.includes(task) ? [dataset] : []))
    const result = await performAt(options, { ...of, task: name }, inputs)
    results.push(result)
    run.tasks = results.map((each) => ({ task_id: each.task, state: each.state, try_number: 1, result: each }))
    if (result.state === 'failed') break
  }
  run.state = results.at(-1)?.state ?? 'failed'
  return results
}
