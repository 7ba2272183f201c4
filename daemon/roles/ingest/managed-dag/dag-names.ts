// Names of DAGs that effects have, so that no pipeline and no effect are of one DAG.
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'

/** Of effects that people create, and of those that a service dispatches. */
export const created_prefix = 'effect__'
export const dispatched_prefix = 'intel__'

export function isEffectDag(dag_id: string): boolean {
  return dag_id.startsWith(created_prefix) || dag_id.startsWith(dispatched_prefix)
}

/** The name that a pipeline may give its DAG. */
export const pipelineDagId = dagId.refine(
  (dag_id) => !isEffectDag(dag_id),
  `must not begin with ${created_prefix} or ${dispatched_prefix}, as DAGs of effects do`,
)
