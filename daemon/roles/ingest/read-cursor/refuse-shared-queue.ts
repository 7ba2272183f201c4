// Refuses two tasks that take messages of one queue.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { ingestQueue } from '../operator/ingest-queue.ts'

/** Each has a cursor of its own: what one has landed, and the queue delivers again after a crash, would be new to the other. */
export function refuseSharedQueue({ tasks }: AssembledDag): Refusal | undefined {
  const [task, another] = tasks.filter(({ operator }) => operator === ingestQueue.name)
  if (!task || !another) return undefined
  return refuse(
    'invalid',
    `the tasks ${task.name} and ${another.name} take messages of one queue, of which each message comes to one task: read it by one, and let both follow it`,
  )
}
