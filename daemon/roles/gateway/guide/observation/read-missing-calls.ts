// Calls about workflows that a process does not know yet when it plans a batch: observations are the only thing that is kept of them.
import type { Call } from '../../../../kernel/operation/call.ts'
import { readWorkflowCall } from '../graph/follow-workflow.ts'
import { findWorkflowUses, workflowKinds } from '../workflow/intents.ts'
import type { ObservedCall, ToolObservation } from '../workflow/observed-call.ts'
import type { WorkflowMemory } from '../workflow/workflow-memory.ts'
import { observations, type StoredObservation } from './model.ts'

const page_size = 500
/** Of one service: older calls are not followed any more. */
const max_pages = 10
/** Calls whose traces are read for their intent; those of older ones are named by their tool. */
const max_generating = 1_000
const services = [...new Set(workflowKinds.map(({ service }) => service))]

/** In their order; what they add to the graphs is there already. Nothing is read for a batch without workflows. */
export async function readMissingCalls(
  call: Pick<Call, 'store'>,
  memory: WorkflowMemory,
  batch: readonly { readonly value: StoredObservation }[],
  seq: number,
): Promise<ObservedCall[]> {
  const isConcerned = batch.some(({ value }) => readWorkflowCall(value) !== undefined)
  const after = memory.seq ?? 0
  const hasGap = memory.seq !== seq - 1
  // Without a gap before it, the memory has all of this batch once it is followed.
  if (isConcerned || !hasGap) memory.seq = seq
  if (!isConcerned || !hasGap) return []
  const found: StoredObservation[] = []
  for (const service of services) found.push(...(await readCalls(call, service, { gt: after, lt: seq })))
  return found
    .sort((one, other) => one.batch_seq - other.batch_seq || one.batch_at - other.batch_at)
    .flatMap((each) => readWorkflowCall(each) ?? [])
}

/** The newest of those that generated a workflow, without the conversation, of which nothing is needed. */
export function listGenerating(calls: readonly ObservedCall[]): { readonly value: WorkflowTrace }[] {
  return calls
    .filter(({ name }) => findWorkflowUses(name).some(({ does }) => does === 'generate'))
    .slice(-max_generating)
    .map(({ observation }) => ({ value: { ...observation, conversation_id: '' } }))
}

type WorkflowTrace = ToolObservation & { readonly conversation_id: '' }

async function readCalls(
  call: Pick<Call, 'store'>,
  service: string,
  batch_seq: { readonly gt: number; readonly lt: number },
): Promise<StoredObservation[]> {
  const store = call.store(observations)
  const order = { field: 'batch_seq', direction: 'desc' } as const
  const found: StoredObservation[] = []
  let cursor: string | undefined
  for (let page = 0; page < max_pages; page += 1) {
    const { docs, next_cursor } = await store.list({
      ...{ filter: { service, batch_seq }, order, limit: page_size, fresh: true },
      ...(cursor ? { cursor } : {}),
    })
    found.push(...docs.map(({ value }) => value))
    cursor = next_cursor
    if (cursor === undefined) break
  }
  return found
}
