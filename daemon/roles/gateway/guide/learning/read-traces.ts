// Reads traces from the store: those that have settled, and at the start the newest ones.
import type { Call } from '../../../../kernel/operation/call.ts'
import { loadServices } from '../../registered-service/load-services.ts'
import { scopeKey } from '../graph/rules.ts'
import { observations, type StoredObservation } from '../observation/model.ts'
import type { Learner, WaitingTrace } from './learner.ts'
import { readTrace, type TraceRecord } from './trace-record.ts'

const max_observations = 200

export async function loadTrace(
  call: Call,
  { scope, trace_id }: WaitingTrace,
  agents: ReadonlySet<string>,
): Promise<TraceRecord> {
  // By the trace alone, which has an index in this order: with more conditions a store may read all observations of a tenant.
  const order = { field: 'batch_seq', direction: 'desc' } as const
  const { docs } = await call
    .store(observations)
    .list({ filter: { trace_id, batch_seq: { gte: 0 } }, order, limit: max_observations, fresh: true })
  const own = docs.map(({ value }) => value).filter((value) => scopeKey(value) === scopeKey(scope))
  return readTrace(own.reverse(), agents)
}

/** Services whose outputs are compared with the intent schema: registered ones of that kind. */
export async function loadAgents(call: Call): Promise<ReadonlySet<string>> {
  const services = await loadServices(call)
  return new Set(services.flatMap(({ name, component_kind }) => (component_kind === 'agent' ? [name] : [])))
}

const page_size = 500
const restored_pages = 20

/** The windows of a process begin with what is stored, so that a restart forgets nothing that was about to be learnt. */
export async function restoreWindows(call: Call, learner: Learner): Promise<void> {
  const agents = await loadAgents(call)
  const newest: StoredObservation[] = []
  let cursor: string | undefined
  for (let page = 0; page < restored_pages; page += 1) {
    const order = { field: 'create_ts', direction: 'desc' } as const
    const found = await call.store(observations).list({ order, limit: page_size, ...(cursor ? { cursor } : {}) })
    newest.push(...found.docs.map(({ value }) => value))
    cursor = found.next_cursor
    if (cursor === undefined) break
  }
  const byTrace = Map.groupBy(newest.reverse(), (value) => `${scopeKey(value)} ${value.trace_id}`)
  for (const ofTrace of byTrace.values()) {
    const [first] = ofTrace
    if (first) learner.openWindow({ tenant_id: first.tenant_id, label: first.label }).add(readTrace(ofTrace, agents))
    await call.pause()
  }
}
