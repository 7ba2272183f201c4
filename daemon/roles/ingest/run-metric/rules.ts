// The metrics of a run that is over, from its document.
import type { RunTask, StoredDagRun } from '../runner/model.ts'
import type { RunMetric } from './model.ts'

/** What a run is called by the part of this role that triggers it: see the ids of triggers. */
const typeOfPrefix = { schedule: 'scheduled', deploy: 'deployment' } as const

/** Undefined for a run that is not over. */
export function measureRun(run: StoredDagRun): RunMetric | undefined {
  const { dag_id, dag_run_id, state, created_at: queued_at, started_at, ended_at: end_date, tasks } = run
  if ((state !== 'success' && state !== 'failed') || end_date === undefined) return undefined
  const [prefix = ''] = dag_run_id.split('__', 1)
  const run_type = Object.hasOwn(typeOfPrefix, prefix) ? typeOfPrefix[prefix as keyof typeof typeOfPrefix] : 'manual'
  return {
    ...{ dag_id, dag_run_id, run_type, state, queued_at, start_date: started_at ?? null, end_date },
    wait_s: secondsBetween(queued_at, started_at ?? end_date),
    duration_s: started_at === undefined ? 0 : secondsBetween(started_at, end_date),
    tasks: countTasks(tasks),
    tries: sum(tasks, ({ tries }) => tries),
    ...measureData(run),
  }
}

/** A clock that was put back gives no negative times. */
function secondsBetween(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000
}

function countTasks(tasks: readonly RunTask[]): RunMetric['tasks'] {
  const countOf = (...states: RunTask['state'][]) => tasks.filter(({ state }) => states.includes(state)).length
  const [success, failed] = [countOf('success'), countOf('failed', 'upstream_failed')]
  return { total: tasks.length, success, failed, skipped: tasks.length - success - failed }
}

/** Rows that a later task took in and landed anew are counted there alone. */
function measureData({ dag, tasks }: StoredDagRun): Pick<RunMetric, 'input_bytes' | 'rows' | 'bytes' | 'rejects'> {
  const landed = new Map(tasks.flatMap(({ name, dataset }) => (dataset ? [[name, dataset] as const] : [])))
  const takenIn = new Set(dag.tasks.filter(({ name }) => landed.has(name)).flatMap(({ after }) => after))
  const sources = dag.tasks.filter(({ after }) => !after.some((name) => landed.has(name))).map(({ name }) => name)
  const [all, results] = [[...landed.values()], [...landed].filter(([name]) => !takenIn.has(name))]
  return {
    input_bytes: sum(sources, (name) => sum(landed.get(name)?.inputs ?? [], ({ bytes }) => bytes)),
    rows: sum(results, ([, { rows }]) => rows),
    bytes: sum(results, ([, { bytes }]) => bytes),
    rejects: sum(all, ({ rejects }) => rejects),
  }
}

function sum<T>(items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((total, item) => total + measure(item), 0)
}
