// The task that a run performs next, by the operators of this release.
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { findRequest } from '../requested-task/requested-task.ts'
import type { StoredDagRun } from './model.ts'
import { findNextTask } from './rules.ts'

export function nextTaskOf(run: StoredDagRun): DagTask | undefined {
  return findNextTask(run, (task) => findRequest(task) !== undefined)
}
