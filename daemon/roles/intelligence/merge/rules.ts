// How signals become one and are taken apart again: pure steps. The survivor owns the merge; what others must follow is owed.
import { canonical } from '../../../kernel/canonical.ts'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import {
  dominates,
  isHeldBy,
  join,
  type Label,
  type LabelPolicy,
  labelKey,
  type Viewer,
} from '../../../kernel/label.ts'
import type { Link, StoredSignal, TakenIn } from '../signal/model.ts'
import { type Deed, isOpen, owing, stepped } from '../signal/rules.ts'
import { placed } from '../signal/standing.ts'

/** A survivor knows all that it stands for in its own document. */
export const most_taken = 100

/** A signal as it was when it was to be merged. */
export type Candidate = { readonly signal_id: string; readonly value: StoredSignal }
export type Reason = Deed & { readonly rationale: string }
/** `key`: of this merging and no other. */
export type Merging = Reason & { readonly key: string }
/** `into`: the survivor's id; `brought`: links of those that it stands for, which it may not have yet. */
export type Setting = {
  readonly into: string
  readonly brought: readonly Link[]
  readonly viewer: Viewer
  readonly policy: LabelPolicy
}

/**
 * The survivor, with what it is to stand for. Those that it has already are no change. Refuses `wrong_state` for what is
 * merged elsewhere or under way, for open ones where the survivor is over, and `label_denied` where all labels together would leave it to others, or to insights.
 */
export function taking(
  current: StoredSignal,
  candidates: readonly Candidate[],
  { by, at, rationale, key }: Merging,
  { into, brought, viewer, policy }: Setting,
): StoredSignal | Refused {
  if (current.merge) return refuse('wrong_state', 'the signal is merged into another: merge into that one')
  const known = current.taken_in ?? []
  const leaving = known.find((item) => item.state === 'leaving' && candidates.some((each) => isOf(item, each)))
  if (leaving) return refuse('wrong_state', `${leaving.signal_id} is still being taken out: ask again`)
  const fresh = candidates.filter((each) => !known.some((item) => isOf(item, each)))
  if (fresh.length === 0) return current
  const refused = fresh.map(({ signal_id, value }) => hindrance(signal_id, value)).find((each) => each !== undefined)
  if (refused) return refused
  const open = fresh.find(({ value }) => isOpen(value.status) && !isOpen(current.status))
  if (open) return refuse('wrong_state', `${open.signal_id} is open, and the signal is ${current.status}`)
  if (known.length + fresh.length > most_taken)
    return refuse('wrong_state', `a signal stands for at most ${most_taken} others`)
  const deed = { key, by, at, rationale }
  const items = fresh.map(({ signal_id, value }): TakenIn => {
    return {
      signal_id,
      state: 'taking',
      label: value.label,
      subject: value.subject,
      related: relatedTo(value, into),
      ...deed,
    }
  })
  const next = relabelled(current, [...known, ...items], policy)
  const links = [...current.links, ...brought, ...fresh.flatMap(({ value }) => value.links)]
  const denied = next ? labelFault(next.label, links, viewer, policy) : policyFault()
  return denied ?? owing(placed({ ...(next ?? current), updated_at: at }))
}

const isOf = (item: TakenIn, { signal_id }: Candidate) => item.signal_id === signal_id

/** Why a signal cannot be merged now. */
function hindrance(signal_id: string, { merge, taken_in = [] }: StoredSignal): Refused | undefined {
  if (merge) return refuse('wrong_state', `${signal_id} is merged already: unmerge it first`)
  if (taken_in.every(({ state }) => state === 'taken')) return undefined
  return refuse('wrong_state', `${signal_id} is itself being merged with others: ask again`)
}

const policyFault = () => refuse('label_denied', 'the labels of these signals cannot be joined')

function labelFault(joined: Label, links: readonly Link[], viewer: Viewer, policy: LabelPolicy): Refused | undefined {
  if (!dominates(viewer, joined, policy))
    return refuse('label_denied', 'the label of these signals together would leave them to others')
  return linkFault(joined, links, policy)
}

function linkFault(joined: Label, links: readonly Link[], policy: LabelPolicy): Refused | undefined {
  if (links.every(({ label }) => isHeldBy(joined, label, policy))) return undefined
  return refuse('label_denied', 'an insight that one of the signals is linked to does not hold the labels of all')
}

/** What it is related to, with what it stands for. */
export function relatedOf({ related_signals = [], taken_in = [] }: Pick<StoredSignal, 'related_signals' | 'taken_in'>) {
  return [...new Set([...related_signals, ...taken_in.flatMap(({ related }) => related)])]
}

/** What a signal brings along: it is not news to a survivor that it is related to it. */
function relatedTo(value: StoredSignal, into: string): string[] {
  return relatedOf(value).filter((id) => id !== into)
}

/** With these signals and no others: the label is the join of its own with theirs. Undefined where there is none. */
function relabelled(
  { taken_in: _were, own_label, ...current }: StoredSignal,
  items: readonly TakenIn[],
  policy: LabelPolicy,
): StoredSignal | undefined {
  const own = own_label ?? current.label
  if (items.length === 0) return { ...current, label: own }
  let joined: Label | undefined = own
  for (const { label } of items) joined = joined && join(joined, label, policy)
  return joined && { ...current, label: joined, own_label: own, taken_in: [...items] }
}

/**
 * The signal, merged. The same again is no change. Refuses `wrong_state` when it became something else meanwhile, and
 * `label_denied` when it was linked to an insight that does not hold the survivor's label.
 */
export function claimed(
  current: StoredSignal,
  survivor: { readonly id: string; readonly value: StoredSignal },
  item: TakenIn,
  policy: LabelPolicy,
): StoredSignal | Refused {
  const { id: into, value } = survivor
  if (current.merge?.into === into && current.merge.key === item.key) return current
  const refused = hindrance(item.signal_id, current)
  if (refused) return refused
  const isSame = canonical(relatedTo(current, into)) === canonical(item.related)
  if (!isSame || labelKey(current.label) !== labelKey(item.label))
    return refuse('wrong_state', `${item.signal_id} was changed meanwhile: ask again`)
  const denied = linkFault(value.label, current.links, policy)
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
  return stepped({ ...current, merge }, current.status, { by, at, rationale, event: 'merged', label: value.label })
}

/** The survivor knows that the signal is merged into it. */
export function taken(current: StoredSignal, signal_id: string, at: string): StoredSignal {
  const item = itemOf(current, signal_id, 'taking')
  if (!item) return current
  const taken_in = current.taken_in?.map((each) => (each === item ? { ...each, state: 'taken' as const } : each))
  const { by, rationale } = item
  return stepped({ ...current, ...(taken_in ? { taken_in } : {}) }, current.status, {
    by,
    at,
    rationale,
    event: 'took_in',
  })
}

/** It could not be merged: nothing is left of it. */
export function givenUp(current: StoredSignal, signal_id: string, at: string, policy: LabelPolicy): StoredSignal {
  const item = itemOf(current, signal_id, 'taking')
  return item ? without({ ...current, updated_at: at }, item, policy) : current
}

/** Refuses `wrong_state` where it does not stand for the signal, or is merged into another itself. */
export function leaving(
  current: StoredSignal,
  signal_id: string,
  { by, at, rationale }: Reason,
): StoredSignal | Refused {
  if (current.merge)
    return refuse('wrong_state', 'the signal that stands for it is merged into another: unmerge that first')
  const item = current.taken_in?.find((each) => each.signal_id === signal_id)
  if (!item) return refuse('wrong_state', 'the signal is not merged')
  if (item.state === 'taking') return refuse('wrong_state', 'the signal is still being merged: ask again')
  if (item.state === 'leaving') return current
  const next = { ...item, state: 'leaving' as const, by, at, rationale }
  const taken_in = current.taken_in?.map((each) => (each === item ? next : each))
  return owing({ ...current, updated_at: at, ...(taken_in ? { taken_in } : {}) })
}

/** The signal as it was before this merging, but for its history. */
export function released(current: StoredSignal, { key, by, at, rationale }: Merging): StoredSignal {
  const { merge, ...rest } = current
  if (merge?.key !== key) return current
  return stepped(placed(rest), current.status, { by, at, rationale, event: 'unmerged', label: merge.label })
}

/** The survivor stands for it no more. */
export function letGo(current: StoredSignal, signal_id: string, at: string, policy: LabelPolicy): StoredSignal {
  const item = itemOf(current, signal_id, 'leaving')
  if (!item) return current
  const { by, rationale } = item
  // Under the label that it still has.
  return without(stepped(current, current.status, { by, at, rationale, event: 'let_go' }), item, policy)
}

function without(current: StoredSignal, item: TakenIn, policy: LabelPolicy): StoredSignal {
  const left = (current.taken_in ?? []).filter(({ signal_id }) => signal_id !== item.signal_id)
  return owing(placed(relabelled(current, left, policy) ?? current))
}

function itemOf({ taken_in }: StoredSignal, id: string, state: TakenIn['state']): TakenIn | undefined {
  return taken_in?.find((each) => each.signal_id === id && each.state === state)
}

/** An insight knows who stands for the signal, by the key of that merging. */
export function stoodFor(current: StoredSignal, insight_id: string, stands: string | undefined): StoredSignal {
  const links = current.links.map((each) => {
    if (each.insight_id !== insight_id) return each
    const { stands: _before, ...link } = each
    return stands === undefined ? link : { ...link, stands }
  })
  return owing({ ...current, links })
}
