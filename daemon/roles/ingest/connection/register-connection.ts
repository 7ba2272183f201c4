// Registers connections with a scheduler that keeps them for its workers.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import {
  type SchedulerConnections,
  workflowSchedulerPart,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { type ConnectionTest, connections, type StoredConnection } from './model.ts'
import { listConnections } from './task-connection.ts'
import { openConnection } from './test-connection.ts'

/** Undefined where the scheduler takes connections from the site itself. */
export function findRegistry(call: Call): SchedulerConnections | undefined {
  return call.part(workflowSchedulerPart).actFor(call).connections
}

/** The record of the site stays as it is where the scheduler does not take it: a later change, or a deployment, registers it again. */
export async function tryRegistration(call: Call, doc: Doc<StoredConnection>): Promise<ConnectionTest | undefined> {
  const registry = findRegistry(call)
  if (!registry) return undefined
  const refused = await registerConnection(call, registry, doc).catch((error: unknown) => {
    if (isRefusal(error)) return error
    throw error
  })
  return refused ? { ok: false, detail: refused.message } : { ok: true, detail: 'the scheduler has the connection' }
}

/** Registers those that the tasks name, as they are now, before the scheduler gets their DAG. */
export async function registerForTasks(call: Call, tasks: readonly DagTask[]): Promise<undefined | Refusal> {
  const registry = findRegistry(call)
  for (const id of registry ? listConnections(tasks) : []) {
    const doc = await call.store(connections).find(id)
    const refused = registry && doc && (await registerConnection(call, registry, doc))
    if (refused) return refused
  }
  return undefined
}

const max_changes = 4

/**
 * As it is now: of two requests that change it, or one that deletes it, the registration of the older state may be the last to
 * arrive, with a secret that is no longer set.
 */
async function registerConnection(
  call: Call,
  registry: SchedulerConnections,
  stored: Doc<StoredConnection>,
): Promise<undefined | Refusal> {
  let doc = stored
  for (let change = 0; change < max_changes; change++) {
    const { conn_type, config, secret } = await openConnection(call, doc)
    const refused = await registry.put({ id: doc.id, conn_type, config, ...(secret === undefined ? {} : { secret }) })
    if (refused) return refused
    const current = await call.store(connections).find(doc.id)
    if (!current) return (await registry.remove(doc.id)) ?? refuse('not_found', 'the connection was deleted meanwhile')
    if (current.version === doc.version) return undefined
    doc = current
  }
  return refuse('unavailable', 'the connection changes faster than the scheduler takes it: repeat the request')
}
