// The note of a run at Airflow by which people and the site know the former run that it repeats.
import type { RepeatedRun } from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'

export function describeRepetition({ dag_run_id }: RepeatedRun): string {
  return `Repeats ${dag_run_id} with the latest code`
}

/** Undefined for any other note. */
export function readRepetition(note: string): RepeatedRun | undefined {
  const [, dag_run_id] = /^Repeats (.{1,250}) with the latest code$/.exec(note) ?? []
  return dag_run_id === undefined ? undefined : { dag_run_id, code: 'latest' }
}
