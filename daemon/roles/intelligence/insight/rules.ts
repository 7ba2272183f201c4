// Pure changes of an insight: opening, edits, links and the start of the investigation. Each adds its follow-up work for signals and the ledger to the outbox.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { SignalStatus } from '../signal/model.ts'
import type { AttributedAction, StatusStep } from '../signal/rules.ts'
import { max_links, type StoredInsight } from './model.ts'
import { addToOutbox, buildFollowEntry, recordLedgerEvents } from './outbox/rules.ts'

/** A signal at the time of its link. */
export type LinkableSignal = { readonly signal_id: string; readonly status: SignalStatus; readonly steps: number }

/** The status and status changes of linked signals, by id. */
export type LinkedSignalStates = ReadonlyMap<
  string,
  { readonly status: SignalStatus; readonly merged_into?: string | undefined; readonly steps: readonly StatusStep[] }
>

/** Refuses `wrong_state` for an insight that is closed or being closed. */
export function checkNotClosed({ state, closing_edition_id }: StoredInsight): Refusal | undefined {
  if (state === 'closed') return refuse('wrong_state', 'the insight is closed')
  if (closing_edition_id === undefined) return undefined
  return refuse('wrong_state', 'the insight is being closed by an attested edition')
}

/** The insight with its first link, to its trigger. */
export function openInsight(
  newInsight: StoredInsight,
  signal: LinkableSignal,
  action: AttributedAction,
): StoredInsight {
  const { signal_id } = signal
  const { by, at } = action
  return addLink(recordLedgerEvents(newInsight, [{ type: 'insight_opened', by, at, signal_id }]), signal, action)
}

/** Links a signal; a repeat makes no change. Refuses `wrong_state` if the insight is closed or full. */
export function linkSignal(
  current: StoredInsight,
  signal: LinkableSignal,
  action: AttributedAction,
): StoredInsight | Refusal {
  const existing = current.links.find(({ signal_id }) => signal_id === signal.signal_id)
  if (existing && !existing.via) return current
  const refusal = checkNotClosed(current)
  if (existing) return refusal ? current : makeLinkPermanent(current, signal.signal_id, action)
  if (refusal) return refusal
  if (current.links.length >= max_links)
    return refuse('wrong_state', `the insight has ${max_links} linked signals, the maximum`)
  return addLink({ ...current, updated_at: action.at }, signal, action)
}

export function addLink(
  current: StoredInsight,
  { signal_id, status, steps }: LinkableSignal,
  action: AttributedAction,
  via?: string,
): StoredInsight {
  const { by, at } = action
  const links = [...current.links, { signal_id, told: steps, ...(via === undefined ? {} : { via: [via] }) }]
  const recorded = recordLedgerEvents({ ...current, links }, [{ type: 'signal_linked', by, at, signal_id, status }])
  return addToOutbox(recorded, [buildFollowEntry(recorded, signal_id, steps, action, via)])
}

/** Makes a link that a merged signal brought a direct one, which stays when the merge is undone. */
function makeLinkPermanent(current: StoredInsight, signal_id: string, action: AttributedAction): StoredInsight {
  const links = current.links.map(({ via, ...link }) => {
    return link.signal_id === signal_id || via === undefined ? link : { ...link, via }
  })
  const reportedSteps = links.find((each) => each.signal_id === signal_id)?.told ?? 0
  return addToOutbox({ ...current, updated_at: action.at, links }, [
    buildFollowEntry(current, signal_id, reportedSteps, action),
  ])
}

/**
 * Removes the link and pending entries of a signal whose label has risen above the insight by a merge. The signals merged
 * into it count for themselves again. A closed insight does not change.
 */
export function dropUncoveredLink(
  current: StoredInsight,
  signal_id: string,
  { by, at }: AttributedAction,
): StoredInsight {
  if (current.state === 'closed' || !current.links.some((each) => each.signal_id === signal_id)) return current
  const otherLinks = current.links.filter((each) => each.signal_id !== signal_id)
  const links = otherLinks.map(({ merged_into, ...link }) => {
    return merged_into === undefined || merged_into === signal_id ? link : { ...link, merged_into }
  })
  const pending = current.pending.filter((entry) => {
    return (entry.type !== 'advance' && entry.type !== 'resolve') || entry.signal_id !== signal_id
  })
  return recordLedgerEvents({ ...current, updated_at: at, links, pending }, [
    { type: 'signal_unlinked', by, at, signal_id },
  ])
}

/** Linked signals that are not merged into another. With `states`, an undone merge counts before its delivery to the insight. */
export function listUnmergedLinks({ links }: StoredInsight, states?: LinkedSignalStates): StoredInsight['links'] {
  const isAway = (into: string, id: string) => !states || states.get(id)?.merged_into === into
  return links.filter(({ merged_into, signal_id }) => merged_into === undefined || !isAway(merged_into, signal_id))
}

/** Starts the investigation, which moves linked signals under investigation. Refuses `wrong_state` unless the insight is open. */
export function startInvestigation(current: StoredInsight, { by, at }: AttributedAction): StoredInsight | Refusal {
  if (current.state !== 'open') return refuse('wrong_state', `the insight is ${current.state}`)
  const next = { ...current, state: 'investigating' as const, updated_at: at, started_by: by, started_at: at }
  return addToOutbox(
    recordLedgerEvents(next, [{ type: 'investigation_started', by, at }]),
    listUnmergedLinks(current).map(({ signal_id }) => ({ type: 'advance', id: `advance:${signal_id}`, signal_id, by })),
  )
}

export type InsightEdit = { readonly title?: string | undefined; readonly description?: string | null | undefined }

/** Changes the fields that are present; null removes one. The same texts make no change. Refuses `wrong_state` if closed. */
export function editInsight(
  current: StoredInsight,
  { title = current.title, description = current.description }: InsightEdit,
  { by, at }: AttributedAction,
): StoredInsight | Refusal {
  const refusal = checkNotClosed(current)
  if (refusal) return refusal
  const { description: earlier, ...others } = current
  const replaced = {
    ...(title === current.title ? {} : { title: current.title }),
    ...(earlier === undefined || description === earlier ? {} : { description: earlier }),
  }
  if (title === current.title && (description ?? undefined) === earlier) return current
  const next = { ...others, title, ...(description === null || description === undefined ? {} : { description }) }
  return recordLedgerEvents({ ...next, updated_at: at }, [{ type: 'insight_edited', by, at, replaced }])
}
