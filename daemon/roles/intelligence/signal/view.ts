// Builds the API view of a signal: without internal fields, and without links and reasons above the clearance of the viewer.

import { dominates, isCoveredBy, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { listRelatedSignals } from '../merge/rules.ts'
import type { Signal, StoredSignal } from './model.ts'

type LabelPredicate = (label: Label) => boolean

type SignalViewContext = Pick<Call, 'caller' | 'site'>

export function showSignal({ caller, site }: SignalViewContext, doc: Doc<StoredSignal>): Signal {
  return buildView(doc, (label) => caller.tenant_id === '*' || dominates(caller, label, site.labels))
}

/** The view for every present and later viewer of the signal, as it may be passed on under its own label. */
export function showSignalToAll({ site }: SignalViewContext, doc: Doc<StoredSignal>): Signal {
  return buildView(doc, (label) => isCoveredBy(label, doc.value.label, site.labels))
}

function buildView({ id, value }: Doc<StoredSignal>, maySee: LabelPredicate): Signal {
  const {
    label: classification,
    request_key: _key,
    request_digest: _digest,
    subject_id: _subject,
    source_type: _type,
    source_name: _name,
    subject_visibility: _subjectVisibility,
    silence_id,
    silence_label,
    merge: _merge,
    taken_in: _items,
    own_label: _own,
    acknowledgment_note: _note,
    due_ts: _due,
    owes: _owes,
    untold: _untold,
    unlogged: _unlogged,
    tally: _tally,
    revision: version,
    links,
    metadata: _metadata,
    ...rest
  } = value
  const insights = links.filter(({ label }) => maySee(label)).map(({ insight_id }) => insight_id)
  return {
    uid: id,
    signal_id: id,
    version,
    classification,
    ...rest,
    ...showHistory(value, insights, maySee),
    linked_insight_ids: insights,
    ...(silence_id !== undefined && silence_label && maySee(silence_label) ? { silence_id } : {}),
    ...showMerges(value, maySee),
  }
}

/** Shows the history. Reasons from a time when the label was higher stay visible to viewers cleared for that label. */
function showHistory(
  { metadata, acknowledgment_note }: StoredSignal,
  readableLabels: readonly string[],
  maySee: LabelPredicate,
) {
  const { resolved_by_insight: insight, resolved_by_edition: edition, status_history, ...otherMetadata } = metadata
  const isSeen = insight !== undefined && readableLabels.includes(insight)
  const steps = status_history.map(({ label, rationale, ...step }) => {
    return rationale === undefined || (label && !maySee(label)) ? step : { ...step, rationale }
  })
  const acknowledged = status_history.find(({ to }) => to === 'acknowledged')?.label
  const hasNote = acknowledgment_note !== undefined && (acknowledged === undefined || maySee(acknowledged))
  return {
    ...(hasNote ? { acknowledgment_note } : {}),
    metadata: {
      ...otherMetadata,
      status_history: steps,
      ...(isSeen ? { resolved_by_insight: insight, resolved_by_edition: edition } : {}),
    },
  }
}

function showMerges(value: StoredSignal, maySee: LabelPredicate) {
  const { merge, taken_in } = value
  const related = listRelatedSignals(value)
  return {
    ...(merge ? { merged_at: merge.at, merged_by: merge.by } : {}),
    ...(merge && maySee(merge.label) ? { merged_into: merge.into } : {}),
    ...(related.length > 0 ? { related_signals: related } : {}),
    ...(taken_in
      ? {
          merged_signals: taken_in.map(({ signal_id, subject, by, at, state }) => {
            return { signal_id, subject, by, at, settled: state === 'taken' }
          }),
        }
      : {}),
  }
}
