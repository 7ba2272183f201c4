// Which artifacts a trace had, and which it went without.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { type GraphScope, scopeKey } from '../graph/rules.ts'
import type { TraceRecord } from '../learning/trace-record.ts'
import { lineageEvents, type StoredLineageEvent } from '../lineage/model.ts'
import { observations } from '../observation/model.ts'

type LineageDocs = readonly Doc<StoredLineageEvent>[]

export type ArtifactLineage = {
  /** In one scope at least. */
  readonly isAttached: boolean
  /** As the trace was counted for the artifact before. */
  readonly mark: string | undefined
  readonly docs: LineageDocs
}

const max_events = 500

/** By artifact. */
export async function loadTraceLineage(
  call: Call,
  scope: GraphScope,
  trace: TraceRecord,
): Promise<ReadonlyMap<string, ArtifactLineage>> {
  const own = await loadEvents(call, scope, trace.trace_id)
  const before = trace.conversation_id === '' ? undefined : await findTraceBefore(call, scope, trace)
  const ofFrontEnd = before === undefined ? [] : await loadEvents(call, scope, before)
  const during = [
    ...own.filter(({ value }) => value.scope !== 'l1'),
    // The front end gets its set with a response, and uses it for the next request of the conversation.
    ...ofFrontEnd.filter(({ value }) => value.scope === 'l1'),
  ].filter(({ value }) => value.kind !== 'capped')
  const byArtifact = Map.groupBy(during, ({ value }) => value.artifact_id)
  return new Map([...byArtifact].map(([id, docs]) => [id, summarise(docs)]))
}

function summarise(docs: LineageDocs): ArtifactLineage {
  return {
    isAttached: docs.some(({ value }) => value.kind === 'attached'),
    mark: docs.find(({ value }) => value.counted !== undefined)?.value.counted,
    docs,
  }
}

async function loadEvents(call: Call, { tenant_id }: GraphScope, trace_id: string): Promise<LineageDocs> {
  const { docs } = await call.store(lineageEvents).list({ filter: { trace_id, tenant_id }, limit: max_events })
  return docs
}

const max_observations = 200

/** The request of the conversation before this one. */
async function findTraceBefore(
  call: Call,
  scope: GraphScope,
  { conversation_id, trace_id }: TraceRecord,
): Promise<string | undefined> {
  const order = { field: 'batch_seq', direction: 'desc' } as const
  const { docs } = await call
    .store(observations)
    .list({ filter: { conversation_id }, order, limit: max_observations, fresh: true })
  const own = docs.map(({ value }) => value).filter((value) => scopeKey(value) === scopeKey(scope))
  const first = own.findLastIndex((value) => value.trace_id === trace_id)
  return first < 0 ? undefined : own[first + 1]?.trace_id
}

/** A trace that is read again, with later feedback, is then known to be counted. What fails is counted again at worst. */
export async function markCounted(call: Call, { docs, mark }: ArtifactLineage, counted: string): Promise<void> {
  if (mark === counted) return
  const writes = docs.map(({ id, version, value }) => ({
    do: 'put' as const,
    id,
    version,
    value: { ...value, counted },
  }))
  await call
    .store(lineageEvents)
    .bulk(writes)
    .catch((error: unknown) => call.log.warn('gateway.guide.lineage_not_marked', { error }))
}
