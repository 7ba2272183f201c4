// Pure steps of merging signals and undoing it. The survivor owns the merge; updates of other documents are pending in it.
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import {
  dominates,
  isCoveredBy,
  joinLabels,
  type Label,
  type LabelPolicy,
  labelKey,
  type Viewer,
} from '../../../kernel/label/label.ts'
import type { InsightLink, MergedSignalItem, StoredSignal } from '../signal/model.ts'
import { type AttributedAction, appendHistory, isOpen, updatePending } from '../signal/rules.ts'
import { withVisibility } from '../signal/visibility.ts'

/** All merged signals of a survivor are in its document. */
export const max_merged = 100

/** A signal at the time of the request to merge it. */
export type MergeCandidate = { readonly signal_id: string; readonly value: StoredSignal }
export type JustifiedAction = AttributedAction & { readonly rationale: string }
/** `key`: identifies this merge. */
export type MergeAction = JustifiedAction & { readonly key: string }
/** `into`: the survivor's id; `brought`: links of its merged signals, which it may not have yet. */
export type MergeContext = {
  readonly into: string
  readonly brought: readonly InsightLink[]
  readonly viewer: Viewer
  readonly policy: LabelPolicy
}

/**
 * Begins a merge: the survivor with the new merged items; known items change nothing. Refuses `wrong_state` for
 * signals that are merged elsewhere or being merged, and for open signals where the survivor is closed;
 * `label_denied` when the joined label is above the viewer or a linked insight.
 */
export function beginMerge(
  current: StoredSignal,
  candidates: readonly MergeCandidate[],
  { by, at, rationale, key }: MergeAction,
  { into, brought, viewer, policy }: MergeContext,
): StoredSignal | Refusal {
  if (current.merge) return refuse('wrong_state', 'the signal is merged into another: use merged_into')
  const known = current.taken_in ?? []
  const leaving = known.find((item) => item.state === 'leaving' && candidates.some((each) => isItemOf(item, each)))
  if (leaving) return refuse('wrong_state', `${leaving.signal_id} is still being unmerged: retry`)
  const newItems = candidates.filter((each) => !known.some((item) => isItemOf(item, each)))
  if (newItems.length === 0) return current
  const refusal = newItems
    .map(({ signal_id, value }) => checkMergeable(signal_id, value))
    .find((each) => each !== undefined)
  if (refusal) return refusal
  const open = newItems.find(({ value }) => isOpen(value.status) && !isOpen(current.status))
  if (open) return refuse('wrong_state', `${open.signal_id} is open, but the survivor is ${current.status}`)
  if (known.length + newItems.length > max_merged)
    return refuse('wrong_state', `a signal can have at most ${max_merged} merged signals`)
  const action = { key, by, at, rationale }
  const items = newItems.map(({ signal_id, value }): MergedSignalItem => {
    return {
      signal_id,
      state: 'taking',
      label: value.label,
      subject: value.subject,
      related: listRelatedWithout(value, into),
      ...action,
    }
  })
  const next = withMergedItems(current, [...known, ...items], policy)
  const links = [...current.links, ...brought, ...newItems.flatMap(({ value }) => value.links)]
  const denied = next ? checkJoinedLabel(next.label, links, viewer, policy) : refuseUnjoinableLabels()
  return denied ?? updatePending(withVisibility({ ...(next ?? current), updated_at: at }))
}

const isItemOf = (item: MergedSignalItem, { signal_id }: MergeCandidate) => item.signal_id === signal_id

/** The reason why a signal cannot be merged now. */
function checkMergeable(signal_id: string, { merge, taken_in = [] }: StoredSignal): Refusal | undefined {
  if (merge) return refuse('wrong_state', `${signal_id} is merged already: unmerge it first`)
  if (taken_in.every(({ state }) => state === 'taken')) return undefined
  return refuse('wrong_state', `${signal_id} is itself being merged with others: retry`)
}

const refuseUnjoinableLabels = () => refuse('label_denied', 'the label policy has no join of the labels')

function checkJoinedLabel(
  joined: Label,
  links: readonly InsightLink[],
  viewer: Viewer,
  policy: LabelPolicy,
): Refusal | undefined {
  if (!dominates(viewer, joined, policy))
    return refuse('label_denied', 'the joined label of these signals is above your clearance')
  return checkLinkLabels(joined, links, policy)
}

function checkLinkLabels(joined: Label, links: readonly InsightLink[], policy: LabelPolicy): Refusal | undefined {
  if (links.every(({ label }) => isCoveredBy(joined, label, policy))) return undefined
  return refuse('label_denied', 'the label of a linked insight does not cover all labels')
}

/** Its related signals, including those of its merged signals. */
export function listRelatedSignals({
  related_signals = [],
  taken_in = [],
}: Pick<StoredSignal, 'related_signals' | 'taken_in'>) {
  return [...new Set([...related_signals, ...taken_in.flatMap(({ related }) => related)])]
}

/** Related signals without the survivor itself. */
function listRelatedWithout(value: StoredSignal, into: string): string[] {
  return listRelatedSignals(value).filter((id) => id !== into)
}

/** The survivor with exactly these merged items, under the join of all labels; undefined without a join. */
function withMergedItems(
  { taken_in: _items, own_label, ...current }: StoredSignal,
  items: readonly MergedSignalItem[],
  policy: LabelPolicy,
): StoredSignal | undefined {
  const ownLabel = own_label ?? current.label
  if (items.length === 0) return { ...current, label: ownLabel }
  let joined: Label | undefined = ownLabel
  for (const { label } of items) joined = joined && joinLabels(joined, label, policy)
  return joined && { ...current, label: joined, own_label: ownLabel, taken_in: [...items] }
}

/**
 * Marks the signal as merged; a repeat changes nothing. Refuses `wrong_state` when the signal changed meanwhile, and
 * `label_denied` when it was linked to an insight that does not cover the survivor's label.
 */
export function claimSignal(
  current: StoredSignal,
  survivor: { readonly id: string; readonly value: StoredSignal },
  item: MergedSignalItem,
  policy: LabelPolicy,
): StoredSignal | Refusal {
  const { id: into, value } = survivor
  if (current.merge?.into === into && current.merge.key === item.key) return current
  const refusal = checkMergeable(item.signal_id, current)
  if (refusal) return refusal
  const isSame = canonicalJson(listRelatedWithout(current, into)) === canonicalJson(item.related)
  if (!isSame || labelKey(current.label) !== labelKey(item.label))
    return refuse('wrong_state', `${item.signal_id} changed in the meantime: retry`)
  const denied = checkLinkLabels(value.label, current.links, policy)
  if (denied) return denied
  const { key, by, at, rationale } = item
  const merge = {
    into,
    label: value.label,
    is_elsewhere: current.subject_id !== value.subject_id,
    key,
    by,
    at,
    rationale,
  }
  return appendHistory({ ...current, merge }, current.status, {
    by,
    at,
    rationale,
    event: 'merged',
    label: value.label,
  })
}

/** Records in the survivor that the merge is complete. */
export function completeMerge(current: StoredSignal, signal_id: string, at: string): StoredSignal {
  const item = findItem(current, signal_id, 'taking')
  if (!item) return current
  const taken_in = current.taken_in?.map((each) => (each === item ? { ...each, state: 'taken' as const } : each))
  const { by, rationale } = item
  return appendHistory({ ...current, ...(taken_in ? { taken_in } : {}) }, current.status, {
    by,
    at,
    rationale,
    event: 'took_in',
  })
}

/** Removes a signal that could not be merged from the survivor. */
export function abandonMerge(current: StoredSignal, signal_id: string, at: string, policy: LabelPolicy): StoredSignal {
  const item = findItem(current, signal_id, 'taking')
  return item ? removeItem({ ...current, updated_at: at }, item, policy) : current
}

/** Refuses `wrong_state` if the signal is not merged into it, or if it is itself merged into another. */
export function beginUnmerge(
  current: StoredSignal,
  signal_id: string,
  { by, at, rationale }: JustifiedAction,
): StoredSignal | Refusal {
  if (current.merge) return refuse('wrong_state', 'its survivor is merged into another: unmerge that first')
  const item = current.taken_in?.find((each) => each.signal_id === signal_id)
  if (!item) return refuse('wrong_state', 'the signal is not merged')
  if (item.state === 'taking') return refuse('wrong_state', 'the signal is still being merged: retry')
  if (item.state === 'leaving') return current
  const next = { ...item, state: 'leaving' as const, by, at, rationale }
  const taken_in = current.taken_in?.map((each) => (each === item ? next : each))
  return updatePending({ ...current, updated_at: at, ...(taken_in ? { taken_in } : {}) })
}

/** The signal before this merge, except for its history. */
export function releaseSignal(current: StoredSignal, { key, by, at, rationale }: MergeAction): StoredSignal {
  const { merge, ...rest } = current
  if (merge?.key !== key) return current
  return appendHistory(withVisibility(rest), current.status, {
    by,
    at,
    rationale,
    event: 'unmerged',
    label: merge.label,
  })
}

/** Records in the survivor that the merge is undone. */
export function completeUnmerge(
  current: StoredSignal,
  signal_id: string,
  at: string,
  policy: LabelPolicy,
): StoredSignal {
  const item = findItem(current, signal_id, 'leaving')
  if (!item) return current
  const { by, rationale } = item
  // The history step is added under the current label, before it is lowered.
  return removeItem(appendHistory(current, current.status, { by, at, rationale, event: 'let_go' }), item, policy)
}

function removeItem(current: StoredSignal, item: MergedSignalItem, policy: LabelPolicy): StoredSignal {
  const remaining = (current.taken_in ?? []).filter(({ signal_id }) => signal_id !== item.signal_id)
  return updatePending(withVisibility(withMergedItems(current, remaining, policy) ?? current))
}

function findItem(
  { taken_in }: StoredSignal,
  id: string,
  state: MergedSignalItem['state'],
): MergedSignalItem | undefined {
  return taken_in?.find((each) => each.signal_id === id && each.state === state)
}

/** Records that an insight has the survivor of this merge, by its key. */
export function recordKnownMerge(current: StoredSignal, insight_id: string, stands: string | undefined): StoredSignal {
  const links = current.links.map((each) => {
    if (each.insight_id !== insight_id) return each
    const { stands: _before, ...link } = each
    return stands === undefined ? link : { ...link, stands }
  })
  return updatePending({ ...current, links })
}
