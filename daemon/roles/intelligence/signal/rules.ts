// The lifecycle of a signal: one table of transitions, and pure steps from one stored state to the next.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { isCoveredBy, type Label, type LabelPolicy } from '../../../kernel/label/label.ts'
import { type InsightLink, type SignalStatus, type StatusChange, type StoredSignal, signalStatus } from './model.ts'
import { withVisibility } from './visibility.ts'

/** Each status with the statuses that may follow it. */
export const transitions: Readonly<Record<SignalStatus, readonly SignalStatus[]>> = {
  new: ['acknowledged', 'investigating', 'dismissed'],
  acknowledged: ['investigating', 'dismissed'],
  investigating: ['resolved', 'dismissed'],
  resolved: [],
  dismissed: [],
}

export function isOpen(status: SignalStatus): boolean {
  return transitions[status].length > 0
}

export const open_statuses = signalStatus.options.filter(isOpen)

/** Author, time (RFC 3339) and reason of an action. */
export type AttributedAction = {
  readonly by: string
  readonly at: string
  readonly rationale?: string | undefined
  /** The bulk disposition that the action belongs to. */
  readonly bulk?: string
  /** The kind of step, unless it is a change of status. */
  readonly event?: StatusChange['event']
  /** Label of the reason, if it is higher than that of the signal. */
  readonly label?: Label
}

/** Refuses `wrong_state`, naming the allowed statuses. */
export function changeStatus(
  current: StoredSignal,
  to: SignalStatus,
  action: AttributedAction,
): StoredSignal | Refusal {
  const { status: from, due_ts, ...rest } = current
  const allowed = transitions[from]
  if (!allowed.includes(to)) {
    const fault = { path: 'status', message: `allowed: ${allowed.join(', ') || 'none'}` }
    const detail = allowed.length
      ? `a signal that is ${from} may become ${allowed.join(', ')}, and not ${to}`
      : `the signal is ${from}, which is final`
    return refuse('wrong_state', detail, [fault])
  }
  const next = appendHistory(
    { ...rest, status: to, ...(isOpen(to) && due_ts !== undefined ? { due_ts } : {}) },
    from,
    action,
  )
  return to === 'acknowledged' ? markAcknowledged(next, action) : next
}

/** Refuses `wrong_state` for a merged signal: it changes only through its survivor. */
export function checkNotMerged({ merge }: StoredSignal): Refusal | undefined {
  return (
    merge &&
    refuse('wrong_state', 'the signal is merged into another: use the signal in merged_into, or unmerge this one')
  )
}

/** A change of status by a person. */
export function changeStatusByPerson(
  current: StoredSignal,
  to: SignalStatus,
  action: AttributedAction,
): StoredSignal | Refusal {
  return checkNotMerged(current) ?? changeStatus(current, to, action)
}

function markAcknowledged(current: StoredSignal, { by, at, rationale }: AttributedAction): StoredSignal {
  const note = rationale === undefined ? {} : { acknowledgment_note: rationale }
  return { ...current, acknowledged_by: by, acknowledged_at: at, ...note }
}

/** Dismisses and marks a signal; nothing is deleted. */
export function archiveSignal(current: StoredSignal, action: AttributedAction): StoredSignal | Refusal {
  const next = changeStatus(current, 'dismissed', action)
  if (isRefusal(next)) return next
  const marker = { archived: true as const, archived_by: action.by, archived_at: action.at }
  return { ...next, metadata: { ...next.metadata, ...marker } }
}

/** Moves a signal under investigation; no change if it is already there or beyond. */
export function beginInvestigation(current: StoredSignal, action: AttributedAction): StoredSignal {
  const next = changeStatus(current, 'investigating', action)
  return isRefusal(next) ? current : next
}

/** Resolves a signal by the attested edition that closes its investigation; no change if it is not under investigation. */
export function resolveByEdition(
  current: StoredSignal,
  { edition_id, insight_id }: { readonly edition_id: string; readonly insight_id: string },
  action: AttributedAction,
): StoredSignal {
  const next = changeStatus(current, 'resolved', action)
  if (isRefusal(next)) return current
  const marker = { resolved_by_edition: edition_id, resolved_by_insight: insight_id }
  return { ...next, metadata: { ...next.metadata, ...marker } }
}

/**
 * Adds the link of an insight; a repeat changes nothing. A link `via` a merged signal is ignored when that signal was
 * unmerged meanwhile, and becomes permanent when a person links the signal directly.
 */
export function addInsightLink(
  current: StoredSignal,
  { via, ...link }: InsightLink,
  action: AttributedAction,
): StoredSignal {
  const existing = current.links.find(({ insight_id }) => insight_id === link.insight_id)
  if (via) return addInheritedLink(current, { ...link, via }, existing, action)
  if (existing && !existing.via) return current
  const otherLinks = current.links.filter((each) => each !== existing)
  const { via: _by, ...directLink } = { ...link, ...existing }
  return replaceLinks(current, [...otherLinks, directLink], action)
}

/** Adds a step to the history for a link that was added or removed. */
function replaceLinks(current: StoredSignal, links: readonly InsightLink[], action: AttributedAction): StoredSignal {
  const steps = current.metadata.status_history.length
  // A ledger that has all earlier steps need not receive this one.
  const history = links.map((each) => (each.told >= steps ? { ...each, told: steps + 1 } : each))
  return appendHistory({ ...current, links: history }, current.status, action)
}

type InheritedLink = InsightLink & { readonly via: readonly string[] }

function addInheritedLink(
  current: StoredSignal,
  { via, ...link }: InheritedLink,
  existing: InsightLink | undefined,
  action: AttributedAction,
): StoredSignal {
  if (existing && !existing.via) return current
  const isMergedHere = (id: string) =>
    current.taken_in?.some(({ signal_id, state }) => signal_id === id && state !== 'leaving')
  const added = via.filter((id) => isMergedHere(id) && !existing?.via?.includes(id))
  if (added.length === 0) return current
  const otherLinks = current.links.filter((each) => each !== existing)
  const links = [...otherLinks, { ...link, ...existing, via: [...(existing?.via ?? []), ...added] }]
  return existing ? updatePending({ ...current, links }) : replaceLinks(current, links, { ...action, event: 'linked' })
}

/** Removes a merged signal from the links that it brought; a link disappears with the last of them. */
export function removeInheritedLink(
  current: StoredSignal,
  insight_id: string,
  via: string,
  action: AttributedAction,
): StoredSignal {
  if (!current.links.some((each) => each.insight_id === insight_id && each.via?.includes(via))) return current
  const links = current.links.flatMap((each) => {
    if (each.insight_id !== insight_id || !each.via) return [each]
    const remaining = each.via.filter((id) => id !== via)
    return remaining.length > 0 ? [{ ...each, via: remaining }] : []
  })
  const isUnlinked = links.length < current.links.length
  return isUnlinked
    ? replaceLinks(current, links, { ...action, event: 'unlinked' })
    : updatePending({ ...current, links })
}

export type StatusStep = { readonly at: number; readonly change: StatusChange }

/** Changes of status with their index in the history, which also holds steps of links. */
export function listStatusSteps({ metadata: { status_history } }: Pick<StoredSignal, 'metadata'>): StatusStep[] {
  return status_history.map((change, at) => ({ at, change })).filter(({ change }) => change.from !== change.to)
}

/** The same for viewers cleared for this label: without the reasons above it. */
export function listReadableStatusSteps(
  { metadata: { status_history } }: Pick<StoredSignal, 'metadata'>,
  reader: Label,
  policy: LabelPolicy,
): StatusStep[] {
  const history = status_history.map(({ rationale, ...step }) => {
    const isReadable = rationale !== undefined && (!step.label || isCoveredBy(step.label, reader, policy))
    return isReadable ? { ...step, rationale } : step
  })
  return listStatusSteps({ metadata: { status_history: history } })
}

/** Records that the ledger of an insight has the first `steps` steps. */
export function markStepsReported(current: StoredSignal, insight_id: string, steps: number): StoredSignal {
  const links = current.links.map((link) =>
    link.insight_id === insight_id ? { ...link, told: Math.max(link.told, steps) } : link,
  )
  return updatePending({ ...current, links })
}

/** Marks an open signal as expired. */
export function expireSignal(current: StoredSignal, at: string, now_ms: number): StoredSignal {
  const { due_ts, ...rest } = current
  if (due_ts === undefined || due_ts > now_ms) return current
  return { ...rest, updated_at: at, metadata: { ...rest.metadata, expired_at: at } }
}

/** Appends to the history. While merged signals raise the label, the reason keeps the raised label. */
export function appendHistory(current: StoredSignal, from: SignalStatus, action: AttributedAction): StoredSignal {
  const { by, at, rationale, bulk, event, label = current.own_label && current.label } = action
  const reasonFields = { ...(rationale === undefined ? {} : { rationale }), ...(bulk === undefined ? {} : { bulk }) }
  const stepFields = { ...(event === undefined ? {} : { event }), ...(label === undefined ? {} : { label }) }
  const status_history = [
    ...current.metadata.status_history,
    { from, to: current.status, by, at, ...reasonFields, ...stepFields },
  ]
  return updatePending(
    withVisibility({ ...current, updated_at: at, metadata: { ...current.metadata, status_history } }),
  )
}

/** Whether updates are pending: steps for ledgers, survivors for insights, merges for merged signals. */
export function updatePending(current: StoredSignal): StoredSignal {
  const { links, merge, taken_in = [] } = current
  const steps = current.metadata.status_history.length
  const isPending =
    links.some(({ told: history, stands }) => history < steps || stands !== merge?.key) ||
    taken_in.some(({ state }) => state !== 'taken')
  return { ...current, owes: isPending ? 1 : 0 }
}
