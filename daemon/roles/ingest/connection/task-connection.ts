// The connection that a task of a DAG names: who may read by it, and the one pipeline that does.
import * as z from 'zod'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { isCoveredBy, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { OpenConnection } from '../parts.ts'
import { connections, type StoredConnection } from './model.ts'
import { openConnection } from './test-connection.ts'

const connectionParams = z.looseObject({ connection_id: z.string().min(1).max(128) })

/** The connections that tasks of a DAG name, or operators of an effect, each once. */
export function listConnections(tasks: readonly Pick<DagTask, 'params'>[]): string[] {
  return [...new Set(tasks.flatMap((task) => findConnectionId(task) ?? []))]
}

function findConnectionId({ params }: Pick<DagTask, 'params'>): string | undefined {
  return connectionParams.safeParse(params).data?.connection_id
}

/**
 * With its secret, in the name of the principal of the run, as it is now. What it gives lands under the label of the run, so
 * that whoever may see that may see the connection.
 */
export async function openTaskConnection(
  call: Call,
  task: DagTask,
  label: Label,
): Promise<OpenConnection | Refusal | undefined> {
  const id = findConnectionId(task)
  if (id === undefined) return undefined
  const doc = await call.store(connections).find(id)
  const hidden = refuseHidden(call, id, doc, label)
  return hidden || !doc ? hidden : await openConnection(call, doc)
}

/** Refuses a connection that the caller may not see, or whose rows would land under a lower label than its own. */
export function refuseHidden(
  call: Call,
  id: string,
  doc: Doc<StoredConnection> | undefined,
  label: Label,
): Refusal | undefined {
  if (!doc) return refuse('not_found', `there is no connection ${id} that the pipeline may read by`)
  if (isCoveredBy(doc.value.label, label, call.site.labels)) return undefined
  return refuse('label_denied', `the connection ${id} has a higher label than the pipeline`)
}
