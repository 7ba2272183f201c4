// Answers of Airflow as the contract of schedulers has them.
import { dagId } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import {
  type WorkflowDag,
  type WorkflowRun,
  type WorkflowTask,
  workflowRunState,
  workflowTaskState,
} from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { type NamedDag, versionTag } from './dag-names.ts'
import type { DagAnswer, RunAnswer, TaskAnswer } from './generation.ts'
import { readRepetition } from './run-note.ts'

/** Undefined for a DAG of a name that the interface does not have. A managed one is active once Airflow has read its live content. */
export function showDag({ dag_id, managed }: NamedDag, answer: DagAnswer): WorkflowDag | undefined {
  if (!dagId.safeParse(dag_id).success) return undefined
  const isKnown = answer.is_active ?? !answer.is_stale
  const isCurrent = !managed || (answer.tags ?? []).some(({ name }) => name === versionTag(managed.dag_digest))
  return {
    dag_id,
    is_paused: answer.is_paused ?? false,
    is_active: isKnown && isCurrent,
    next_run: answer.next_dagrun ?? answer.next_dagrun_logical_date,
  }
}

export function showRun({ dag_id }: NamedDag, answer: RunAnswer): WorkflowRun {
  const { dag_run_id, logical_date, start_date, end_date, conf } = answer
  // States of later releases are not over yet.
  const state = workflowRunState.safeParse(answer.state).data ?? 'running'
  const repeats = readRepetition(answer.note ?? '')
  const shown = { ...{ dag_id, dag_run_id, state, logical_date, start_date, end_date }, conf: conf ?? {} }
  return repeats ? { ...shown, repeats } : shown
}

/** States that the contract has by other names. */
const taskStates: Readonly<Record<string, WorkflowTask['state']>> = {
  ...{ none: null, scheduled: 'queued', restarting: 'running', up_for_reschedule: 'running' },
  ...{ deferred: 'running', removed: 'skipped', shutdown: 'failed' },
}

export function showTask({ task_id, state, try_number, start_date, end_date }: TaskAnswer): WorkflowTask {
  const known = workflowTaskState.safeParse(state).data
  const shown = known ?? taskStates[state ?? 'none'] ?? null
  return { task_id, state: shown, try_number: try_number ?? 0, start_date, end_date }
}
