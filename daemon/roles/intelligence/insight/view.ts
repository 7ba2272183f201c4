// Builds the API view of an insight: without internal fields.
import type { Doc } from '../../../kernel/store/store.ts'
import type { Insight, StoredInsight } from './model.ts'

export function showInsight({ id, version, value }: Doc<StoredInsight>): Insight {
  const {
    label: classification,
    request_digest: _digest,
    links,
    editions,
    events: _events,
    pending: _pending,
    owes,
    ...rest
  } = value
  const merged_signals = links.flatMap(({ signal_id, merged_into }) =>
    merged_into ? [{ signal_id, merged_into }] : [],
  )
  return {
    uid: id,
    version,
    classification,
    ...rest,
    linked_signal_ids: links.map(({ signal_id }) => signal_id),
    ...(merged_signals.length ? { merged_signals } : {}),
    editions: editions.map(({ request_digest: _request, ...edition }) => edition),
    settled: owes === 0,
  }
}
