// Tasks that read what is new alone, and which of their parameters decide what they read.
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { ingestDatabase } from './ingest-database.ts'
import { ingestObjects } from './ingest-objects.ts'
import { ingestQueue } from './ingest-queue.ts'

/** False also for parameters that do not fit. */
export function isIncremental({ operator: name, params }: Pick<DagTask, 'operator' | 'params'>): boolean {
  if (name === ingestQueue.name) return true
  if (name === ingestObjects.name) return ingestObjects.params.safeParse(params).data?.only_new === true
  if (name !== ingestDatabase.name) return false
  const { cursor_column, only_new } = ingestDatabase.params.safeParse(params).data ?? {}
  return cursor_column !== undefined || only_new === true
}

/**
 * Of a task that is incremental. Objects and messages are known one by one: a pattern, or how they are read, makes no other reading, so
 * that a change of them lands nothing twice.
 */
export function chooseReading({
  operator: name,
  params,
}: Pick<DagTask, 'operator' | 'params'>): Readonly<Record<string, unknown>> {
  if (name === ingestQueue.name) {
    const { cursor_generation } = ingestQueue.params.parse(params)
    return { cursor_generation }
  }
  if (name === ingestObjects.name) {
    const { prefix, cursor_generation } = ingestObjects.params.parse(params)
    return { cursor_generation, ...(prefix !== undefined && { prefix }) }
  }
  const { max_rejects: _limit, ...chosen } = ingestDatabase.params.parse(params)
  return chosen
}
