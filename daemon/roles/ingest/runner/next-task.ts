// The task that a run performs next, by the operators of this release.
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { findRequestedTask } from '../partial-run/rules.ts'
import { findRequest } from '../requested-task/requested-task.ts'
import type { StoredDagRun } from './model.ts'
import { findNextTask } from './rules.ts'

export function nextTaskOf(run: StoredDagRun): DagTask | undefined {
  const mayWait = (task: DagTask) => findRequest(task) !== undefined
  return run.part_of ? findRequestedTask(run, mayWait) : findNextTask(run, mayWait)
}
