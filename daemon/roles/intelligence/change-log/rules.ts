// Computes the changes of a write to a signal, with old and new values, and their positions in the log of the tenant.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { labelKey } from '../../../kernel/label/label.ts'
import { listRelatedSignals } from '../merge/rules.ts'
import type { StoredSignal } from '../signal/model.ts'
import { buildTallyKey } from '../statistics/rules.ts'
import type { ChangeReference, FieldChange, UnloggedChange } from './model.ts'

/** Internal fields, and fields that are recorded in another way. */
const hiddenFields: ReadonlySet<string> = new Set([
  ...['tenant_id', 'created_by', 'created_at', 'updated_at', 'request_digest', 'request_key', 'schema_version'],
  ...['subject_id', 'due_ts', 'owes', 'revision', 'untold', 'unlogged', 'tally', 'label', 'links', 'metadata'],
  ...['source_type', 'source_name', 'subject_visibility', 'silence_id', 'silence_label'],
  ...['merge', 'taken_in', 'own_label'],
])
/** Fields that only viewers of the insight may see. */
const insightMetadata = ['resolved_by_insight', 'resolved_by_edition'] as const
const hiddenMetadata: ReadonlySet<string> = new Set(['status_history', ...insightMetadata])

/**
 * The signal to store: with its changes recorded for the log, and a higher revision. A write without visible changes
 * keeps the revision. `before`: undefined for a new signal.
 */
export function recordChanges(before: StoredSignal | undefined, after: StoredSignal, by: string): StoredSignal {
  const parts = before ? diffSignals(before, after) : partsOfNewSignal(after)
  if (parts.length === 0) return after
  const { rationale, label: rationaleLabel, ...action } = attributionOf(before, after, by)
  const revision = after.revision + 1
  const fresh = parts.map(({ label, fields }, part): UnloggedChange => {
    const hasRationale =
      rationale !== undefined && (rationaleLabel === undefined || labelKey(rationaleLabel) === labelKey(label))
    return { ...action, ...(hasRationale ? { rationale } : {}), revision, part, label, fields }
  })
  return { ...after, revision, untold: [...after.untold, ...fresh], unlogged: 1, tally: buildTallyKey(after) }
}

/** The parts of a new signal. Visibility is recorded unless it is `listed`; a silence only for its viewers. */
function partsOfNewSignal({ label, status, visibility, silence_id, silence_label }: StoredSignal): ChangePart[] {
  const from = (field: string, to: unknown): FieldChange => ({ field, from: null, to })
  const fields = [from('status', status), ...(visibility === 'listed' ? [] : [from('visibility', visibility)])]
  const silence = silence_label && [{ label: silence_label, fields: [from('silence_id', silence_id)] }]
  return [{ label, fields }, ...(silence ?? [])]
}

/** Author, time and reason of a change. `label`: label of the rationale, if it differs from that of the change. */
type ChangeAttribution = Pick<UnloggedChange, 'by' | 'at' | 'rationale' | 'bulk'> &
  Partial<Pick<UnloggedChange, 'label'>>

/** The attribution by the newest history step, where the write added one. */
function attributionOf(before: StoredSignal | undefined, after: StoredSignal, by: string): ChangeAttribution {
  const { status_history } = after.metadata
  const step = status_history.length > (before?.metadata.status_history.length ?? 0) ? status_history.at(-1) : undefined
  if (!step) return { by, at: after.updated_at }
  const { rationale, label, bulk } = step
  return {
    ...{ by: step.by, at: step.at, ...(rationale === undefined ? {} : { rationale }) },
    ...(label ? { label } : {}),
    ...(bulk === undefined ? {} : { bulk }),
  }
}

type ChangePart = Pick<UnloggedChange, 'label' | 'fields'>

/** The part for all viewers of the signal, and for each insight the part for its viewers. */
function diffSignals(before: StoredSignal, after: StoredSignal): ChangePart[] {
  const visibleChanges = [
    ...diffFields(topLevelFields(before), topLevelFields(after), hiddenFields, ''),
    ...diffFields(before.metadata, after.metadata, hiddenMetadata, 'metadata.'),
  ]
  // Changes made while merged signals raised the label keep the raised label.
  const parts =
    visibleChanges.length > 0
      ? [{ label: hasReleasedMerged(before, after) ? before.label : after.label, fields: visibleChanges }]
      : []
  const insights = new Set([...before.links, ...after.links].map(({ insight_id }) => insight_id))
  return [...parts, ...mergeParts(before, after), ...[...insights].flatMap((id) => insightParts(before, after, id))]
}

const mergedIdsOf = ({ taken_in = [] }: StoredSignal) => taken_in.map(({ signal_id }) => signal_id)

function hasReleasedMerged(before: StoredSignal, after: StoredSignal): boolean {
  return mergedIdsOf(after).length < mergedIdsOf(before).length
}

/** Changes of merges, for viewers of all signals concerned. */
function mergeParts(before: StoredSignal, after: StoredSignal): ChangePart[] {
  const [old, fresh] = [mergedIdsOf(before), mergedIdsOf(after)]
  const label = hasReleasedMerged(before, after) ? before.label : after.label
  const mergedFields = diffFields({ merged_signals: old }, { merged_signals: fresh }, new Set(), '')
  const merge = after.merge ?? before.merge
  const survivorFields = diffFields(
    { merged_into: before.merge?.into },
    { merged_into: after.merge?.into },
    new Set(),
    '',
  )
  return [
    ...(mergedFields.length > 0 ? [{ label, fields: mergedFields }] : []),
    ...(merge && survivorFields.length > 0 ? [{ label: merge.label, fields: survivorFields }] : []),
  ]
}

function topLevelFields(signal: StoredSignal): Readonly<Record<string, unknown>> {
  const { related_signals: _related, ...rest } = signal
  const related = listRelatedSignals(signal)
  return { ...rest, classification: signal.label, ...(related.length > 0 ? { related_signals: related } : {}) }
}

function insightParts(before: StoredSignal, after: StoredSignal, insight_id: string): ChangePart[] {
  const linkIn = ({ links }: StoredSignal) => links.find((link) => link.insight_id === insight_id)
  const [old, fresh] = [linkIn(before), linkIn(after)]
  const label = (fresh ?? old)?.label
  if (!label) return []
  const fields: FieldChange[] = []
  if (!old || !fresh)
    fields.push({ field: 'linked_insight_ids', from: old ? insight_id : null, to: fresh ? insight_id : null })
  const isResolvedBy = ({ metadata }: StoredSignal) => metadata.resolved_by_insight === insight_id
  if (isResolvedBy(after) && !isResolvedBy(before))
    for (const name of insightMetadata)
      fields.push({ field: `metadata.${name}`, from: null, to: after.metadata[name] ?? null })
  return fields.length > 0 ? [{ label, fields }] : []
}

function diffFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  except: ReadonlySet<string>,
  prefix: string,
): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !except.has(name)).sort()
  return names.flatMap((name) => {
    const [from, to] = [before[name] ?? null, after[name] ?? null]
    if (from === to || canonicalJson(from) === canonicalJson(to)) return []
    return [{ field: `${prefix}${name}`, from, to }]
  })
}

/** Removes changes that are in the log. */
export function removeLoggedChanges(
  current: StoredSignal,
  logged: readonly Pick<ChangeReference, 'revision' | 'part'>[],
): StoredSignal {
  const isLogged = (each: UnloggedChange) =>
    logged.some(({ revision, part }) => revision === each.revision && part === each.part)
  const { unlogged: _unlogged, ...rest } = current
  const untold = current.untold.filter((each) => !isLogged(each))
  return untold.length > 0 ? { ...current, untold } : { ...rest, untold }
}

/**
 * Positions in a batch, in the order of time, and of revision within a signal. A position consists of the batch and
 * visible data of the change only, so it reveals nothing about hidden changes.
 */
export function assignPlaces(
  batch: number,
  signal_id: string,
  changes: readonly Pick<UnloggedChange, 'at' | 'revision' | 'part'>[],
): ChangeReference[] {
  let latest = ''
  return changes.map(({ at, revision, part }) => {
    // The clock may have been set back.
    latest = at > latest ? at : latest
    const place = `${batchStart(batch)}${latest}.${signal_id}.${String(revision).padStart(9, '0')}.${part}`
    return { signal_id, revision, part, place }
  })
}

/** The lower bound of the positions of a batch, above those of earlier batches. */
export function batchStart(batch: number): string {
  return `${String(batch).padStart(15, '0')}.`
}

export function changeId({
  signal_id,
  revision,
  part,
}: Pick<ChangeReference, 'signal_id' | 'revision' | 'part'>): string {
  return `${signal_id}:${revision}:${part}`
}
