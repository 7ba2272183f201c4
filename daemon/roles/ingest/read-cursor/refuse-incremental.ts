// Refuses tasks that read what is new where Airflow runs them, or where one would take what is of another.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { isIncremental } from '../operator/incremental-task.ts'
import { ingestQueue } from '../operator/ingest-queue.ts'

/** Each has a cursor of its own: what one has landed, and the queue delivers again after a crash, would be new to the other. */
function refuseSharedQueue({ tasks }: AssembledDag): Refusal | undefined {
  const [task, another] = tasks.filter(({ operator }) => operator === ingestQueue.name)
  if (!task || !another) return undefined
  return refuse(
    'invalid',
    `the tasks ${task.name} and ${another.name} take messages of one queue, of which each message comes to one task: read it by one, and let both follow it`,
  )
}

/** Workers of Airflow do not reach the documents of the site, which say where the run before has ended. */
export function refuseIncremental(call: Call, dag: AssembledDag): Refusal | undefined {
  const shared = refuseSharedQueue(dag)
  if (shared) return shared
  const task = dag.tasks.find(isIncremental)
  if (!task || call.part(workflowSchedulerPart).kind !== 'airflow') return undefined
  const remedy =
    task.operator === ingestQueue.name
      ? 'read the queue on a site with the embedded scheduler'
      : 'leave out cursor_column and only_new'
  return refuse(
    'invalid',
    `the task ${task.name} reads what is new, which Airflow cannot: the site keeps what has landed; ${remedy}`,
  )
}
