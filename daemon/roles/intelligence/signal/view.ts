// A signal as the interface shows it: without its bookkeeping, and without insights that the viewer may not know of.
import type { Call } from '../../../kernel/call.ts'
import { dominates, type Label } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { Signal, StoredSignal } from './model.ts'

export function shown({ caller, site }: Pick<Call, 'caller' | 'site'>, { id, value }: Doc<StoredSignal>): Signal {
  const {
    label: classification,
    request_key: _key,
    request_digest: _digest,
    subject_id: _subject,
    source_type: _type,
    source_name: _name,
    subject_standing: _standing,
    silence_id,
    silence_label,
    due_ts: _due,
    owes: _owes,
    untold: _untold,
    unlogged: _unlogged,
    tally: _tally,
    revision: version,
    links,
    metadata,
    ...rest
  } = value
  const sees = (label: Label) => caller.tenant_id === '*' || dominates(caller, label, site.labels)
  const seen = links.filter(({ label }) => sees(label)).map(({ insight_id }) => insight_id)
  const { resolved_by_insight: insight, resolved_by_edition: edition, ...others } = metadata
  const resolved =
    insight !== undefined && seen.includes(insight)
      ? { resolved_by_insight: insight, resolved_by_edition: edition }
      : {}
  return {
    uid: id,
    signal_id: id,
    version,
    classification,
    ...rest,
    metadata: { ...others, ...resolved },
    linked_insight_ids: seen,
    ...(silence_id !== undefined && silence_label && sees(silence_label) ? { silence_id } : {}),
  }
}
