// Prepares a batch of what waited in the queue: envelopes are checked and stamped, repeats are left out, the rest is planned.
import * as z from 'zod'
import type { Call } from '../../../../kernel/operation/call.ts'
import { sliceRunner } from '../../../../kernel/role/run-in-slices.ts'
import { followEvent, nameConversation, nameTrace } from '../graph/follow-event.ts'
import { followWorkflow, readWorkflowCall, recallWorkflow } from '../graph/follow-workflow.ts'
import type { GraphBook } from '../graph/graph-book.ts'
import type { GraphWork } from '../graph/head-model.ts'
import { GraphPlan, memoryKey } from '../graph/plan.ts'
import { boundPayload } from './bound-payload.ts'
import { envelope as envelopeSchema, observations, type StoredObservation } from './model.ts'
import type { ReceivedEnvelope } from './queue.ts'
import { listGenerating, readMissingCalls } from './read-missing-calls.ts'
import { observationIds, type PendingObservation, stampObservation } from './rules.ts'

/** Why an envelope is not stored, without its content. */
export type EnvelopeFault = { readonly path: string; readonly message: string }

export function readEnvelope(
  { raw, tenant_id, label, emitter, accepted_ts }: ReceivedEnvelope,
  principals: ReadonlySet<string>,
): PendingObservation | EnvelopeFault {
  const parsed = envelopeSchema.safeParse(raw)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { path: z.core.toDotPath(issue?.path ?? []).slice(0, 256), message: issue?.message.slice(0, 256) ?? '' }
  }
  const { caller_identity, emitted_by: _, payload, ...fields } = parsed.data
  if (Number.isNaN(Date.parse(fields.timestamp))) return { path: 'timestamp', message: 'is not a time' }
  const { token_subject: username, token_roles: roles } = emitter
  return stampObservation(
    {
      ...{ ...fields, tenant_id, label, emitted_by: emitter },
      caller_identity: caller_identity ?? { username, roles },
      payload: boundPayload(payload),
    },
    accepted_ts,
    principals,
  )
}

export type IngestedBatch = {
  readonly pending: readonly PendingObservation[]
  /** By the key of its memory: when a trace began whose first event is in the batch. */
  readonly begun: ReadonlyMap<string, number>
}

type ObservationDraft = { readonly id: string; readonly value: PendingObservation }

/** Those that are no repeats, each with its id. */
export async function dropRepeats(
  call: Pick<Call, 'store'>,
  pending: readonly PendingObservation[],
  window_ms: number,
  isRetry: boolean,
): Promise<ObservationDraft[]> {
  const store = call.store(observations)
  const drafts = new Map<string, ObservationDraft>()
  for (const value of pending) {
    // The gateway counts the microseconds of its own events: they repeat nothing but an attempt before that was not answered.
    const mayRepeat = isRetry || value.emitted_by.context === 'http'
    const ids = observationIds(value, value.create_ts, window_ms, mayRepeat ? 2 : 1)
    const [id = ''] = ids
    if (ids.some((each) => drafts.has(each))) continue
    const isKnown = mayRepeat && (await isRepeat(store, ids, value, window_ms))
    if (!isKnown) drafts.set(id, { id, value })
  }
  return [...drafts.values()]
}

async function isRepeat(
  store: Pick<ReturnType<Call['store']>, 'find'>,
  ids: readonly string[],
  { create_ts }: PendingObservation,
  window_ms: number,
): Promise<boolean> {
  for (const id of ids) {
    const doc = await store.find(id)
    if (doc && create_ts - Number((doc.value as StoredObservation).create_ts) < window_ms) return true
  }
  return false
}

/** What a batch adds to the graphs, with the memory of its traces read again where it is missing. */
export async function planBatch(
  call: Pick<Call, 'store' | 'monotonic' | 'pause' | 'signal'>,
  book: GraphBook,
  { drafts, begun }: IngestedBatch & { readonly drafts: readonly ObservationDraft[] },
  seq: number,
): Promise<GraphWork> {
  const stored = drafts.map(({ id, value }, batch_at) => ({ id, value: { ...value, batch_seq: seq, batch_at } }))
  const missing = await readMissingCalls(call, book.memory.workflows, stored, seq)
  await recallTraces(call, book, [...listGenerating(missing), ...stored], begun)
  for (const each of missing) recallWorkflow(book.memory, each)
  const plan = new GraphPlan(book.admits, book.admitsEdge)
  await sliceRunner(call)(followAll(plan, book, stored))
  return {
    kind: 'observations',
    observations: stored,
    nodes: [...plan.nodes.values()],
    edges: [...plan.edges.values()],
  }
}

function* followAll(plan: GraphPlan, book: GraphBook, stored: readonly { readonly value: StoredObservation }[]) {
  for (const { value } of stored) {
    followEvent(plan, book.memory, value)
    const workflow = readWorkflowCall(value)
    if (workflow) followWorkflow(plan, book.memory, workflow)
    yield
  }
}

const queries_at_once = 32
/** Of one trace or conversation: the newest ones. */
const max_events = 200

type TraceEvent = Pick<
  StoredObservation,
  'tenant_id' | 'label' | 'trace_id' | 'conversation_id' | 'caller_identity' | 'emitted_by'
>

/** Follows stored events of traces and conversations that are not in memory, for what these remember alone. */
async function recallTraces(
  call: Pick<Call, 'store'>,
  { memory }: GraphBook,
  batch: readonly { readonly value: TraceEvent }[],
  begun: IngestedBatch['begun'],
): Promise<void> {
  const traces = new Set<string>()
  const conversations = new Set<string>()
  const isNew = (value: TraceEvent) =>
    (begun.get(memoryKey(value, value.trace_id)) ?? Number.NEGATIVE_INFINITY) > memory.traces.complete_ts
  for (const { value } of batch) {
    if (!memory.traces.has(value, nameTrace(value)) && !isNew(value)) traces.add(value.trace_id)
    const { conversation_id } = value
    if (conversation_id !== '' && !memory.conversations.has(value, nameConversation(value)))
      conversations.add(conversation_id)
  }
  const events = [
    ...(await loadEvents(call, 'conversation_id', [...conversations])),
    ...(await loadEvents(call, 'trace_id', [...traces])),
  ]
  const unseen = new GraphPlan(() => true)
  const inOrder = new Map(events.map((each) => [each.dedup_key, each]))
  const byOrder = (one: StoredObservation, other: StoredObservation) =>
    one.batch_seq - other.batch_seq || one.batch_at - other.batch_at
  for (const event of [...inOrder.values()].sort(byOrder)) {
    const isMissing = conversations.has(event.conversation_id)
    // A conversation that is in memory has followed the event already.
    if (isMissing || traces.has(event.trace_id))
      followEvent(unseen, memory, isMissing ? event : { ...event, conversation_id: '' })
  }
}

async function loadEvents(
  call: Pick<Call, 'store'>,
  field: 'trace_id' | 'conversation_id',
  ids: readonly string[],
): Promise<StoredObservation[]> {
  const store = call.store(observations)
  const order = { field: 'batch_seq', direction: 'desc' } as const
  const loaded: StoredObservation[] = []
  for (let at = 0; at < ids.length; at += queries_at_once) {
    // One value each: a list of values could be answered by reading all observations in their order. And those with a number
    // alone, which all have: a store would look for the others apart.
    const pages = await Promise.all(
      ids
        .slice(at, at + queries_at_once)
        .map((id) =>
          store.list({ filter: { [field]: id, batch_seq: { gte: 0 } }, order, limit: max_events, fresh: true }),
        ),
    )
    for (const { docs } of pages) loaded.push(...docs.map(({ value }) => value))
  }
  return loaded
}
