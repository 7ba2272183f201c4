// The result of reading the content of an object: a DAG with its text in a repository, or the fault.
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { DagLanguage } from '../../../shared/dag-repository/dag-file-name.ts'
import type { DagContent } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { DeploymentFault } from './model.ts'

export type ContentReading =
  | { readonly text: string; readonly content: DagContent }
  /** The check of the site rejects it: the repository has it as pending all the same, so that its author sees it there. */
  | { readonly text: string; readonly fault: DeploymentFault }
  /** There is nothing to commit. */
  | { readonly error: DeploymentFault }

export function languageOf(
  reading: { readonly content: DagContent } | { readonly fault: DeploymentFault },
): DagLanguage {
  return 'content' in reading && 'python' in reading.content ? 'py' : 'json'
}

/** No task of Python names a connection of the site. */
export function tasksOf(content: DagContent, dag_id: string): AssembledDag {
  return 'python' in content ? { format: 1, dag_id, tasks: [] } : content
}

export function renderDag(dag: AssembledDag): string {
  return `${JSON.stringify(dag, undefined, 2)}\n`
}
