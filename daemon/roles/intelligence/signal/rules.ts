// What may become of a signal: one table of transitions, and pure steps from what is stored to what is stored next.
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { isHeldBy, type Label, type LabelPolicy } from '../../../kernel/label.ts'
import type { Link, SignalStatus, StatusChange, StoredSignal } from './model.ts'
import { placed } from './standing.ts'

/** Status to those that may follow it. */
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

/** Who does something, when (RFC 3339) and why. */
export type Deed = {
  readonly by: string
  readonly at: string
  readonly rationale?: string | undefined
  /** The bulk disposition that it is part of. */
  readonly bulk?: string
  /** What it is, where it is no change of status. */
  readonly event?: StatusChange['event']
  /** Who may read why, where that is not whoever sees the signal. */
  readonly label?: Label
}

/** Refuses `wrong_state`, naming what the signal may become. */
export function become(current: StoredSignal, to: SignalStatus, deed: Deed): StoredSignal | Refused {
  const { status: from, due_ts, ...rest } = current
  const allowed = transitions[from]
  if (!allowed.includes(to)) {
    const may = allowed.length ? `may become ${allowed.join(', ')}` : 'is final'
    const fault = { path: 'status', message: `allowed: ${allowed.join(', ') || 'none'}` }
    return refuse('wrong_state', `a signal that is ${from} ${may}, and not ${to}`, [fault])
  }
  const next = stepped({ ...rest, status: to, ...(isOpen(to) && due_ts !== undefined ? { due_ts } : {}) }, from, deed)
  return to === 'acknowledged' ? acknowledged(next, deed) : next
}

/** Refuses `wrong_state` for a merged signal: nobody moves it but by the one that stands for it. */
export function mergedAway({ merge }: StoredSignal): Refused | undefined {
  return merge && refuse('wrong_state', 'the signal is merged into another, which stands for it')
}

/** A step that a person asks for. */
export function decidedByPerson(current: StoredSignal, to: SignalStatus, deed: Deed): StoredSignal | Refused {
  return mergedAway(current) ?? become(current, to, deed)
}

function acknowledged(current: StoredSignal, { by, at, rationale }: Deed): StoredSignal {
  const note = rationale === undefined ? {} : { acknowledgment_note: rationale }
  return { ...current, acknowledged_by: by, acknowledged_at: at, ...note }
}

/** A dismissal with a marker; nothing is ever deleted. */
export function archived(current: StoredSignal, deed: Deed): StoredSignal | Refused {
  const next = become(current, 'dismissed', deed)
  if (isRefused(next)) return next
  const marker = { archived: true as const, archived_by: deed.by, archived_at: deed.at }
  return { ...next, metadata: { ...next.metadata, ...marker } }
}

/** An investigation of it has begun; no change for a signal that is further already. */
export function advanced(current: StoredSignal, deed: Deed): StoredSignal {
  const next = become(current, 'investigating', deed)
  return isRefused(next) ? current : next
}

/** The edition that closes its investigation was attested; no change for a signal that is not under investigation. */
export function resolvedBy(
  current: StoredSignal,
  { edition_id, insight_id }: { readonly edition_id: string; readonly insight_id: string },
  deed: Deed,
): StoredSignal {
  const next = become(current, 'resolved', deed)
  if (isRefused(next)) return current
  const marker = { resolved_by_edition: edition_id, resolved_by_insight: insight_id }
  return { ...next, metadata: { ...next.metadata, ...marker } }
}

/**
 * Follows a link that an insight has made; the same link again is no change. One that came `via` a merged signal is none
 * when that has left meanwhile, and becomes an own one when somebody makes it.
 */
export function linked(current: StoredSignal, { via, ...link }: Link, deed: Deed): StoredSignal {
  const known = current.links.find(({ insight_id }) => insight_id === link.insight_id)
  if (via) return linkedVia(current, { ...link, via }, known, deed)
  if (known && !known.via) return current
  const others = current.links.filter((each) => each !== known)
  const { via: _by, ...own } = { ...link, ...known }
  return withLinks(current, [...others, own], deed)
}

/** A link that is made or undone is a step. */
function withLinks(current: StoredSignal, links: readonly Link[], deed: Deed): StoredSignal {
  const steps = current.metadata.status_history.length
  // It is no news to a ledger that knows all before it.
  const told = links.map((each) => (each.told >= steps ? { ...each, told: steps + 1 } : each))
  return stepped({ ...current, links: told }, current.status, deed)
}

type Via = Link & { readonly via: readonly string[] }

function linkedVia(current: StoredSignal, { via, ...link }: Via, known: Link | undefined, deed: Deed): StoredSignal {
  if (known && !known.via) return current
  const isHere = (id: string) =>
    current.taken_in?.some(({ signal_id, state }) => signal_id === id && state !== 'leaving')
  const added = via.filter((id) => isHere(id) && !known?.via?.includes(id))
  if (added.length === 0) return current
  const others = current.links.filter((each) => each !== known)
  const links = [...others, { ...link, ...known, via: [...(known?.via ?? []), ...added] }]
  return known ? owing({ ...current, links }) : withLinks(current, links, { ...deed, event: 'linked' })
}

/** A merged signal that brought a link has left; the link goes with the last of them. */
export function unlinked(current: StoredSignal, insight_id: string, via: string, deed: Deed): StoredSignal {
  if (!current.links.some((each) => each.insight_id === insight_id && each.via?.includes(via))) return current
  const links = current.links.flatMap((each) => {
    if (each.insight_id !== insight_id || !each.via) return [each]
    const left = each.via.filter((id) => id !== via)
    return left.length > 0 ? [{ ...each, via: left }] : []
  })
  const isGone = links.length < current.links.length
  return isGone ? withLinks(current, links, { ...deed, event: 'unlinked' }) : owing({ ...current, links })
}

export type Step = { readonly at: number; readonly change: StatusChange }

/** Changes of status with their place in the history, which holds links, too. */
export function changesIn({ metadata: { status_history } }: Pick<StoredSignal, 'metadata'>): Step[] {
  return status_history.map((change, at) => ({ at, change })).filter(({ change }) => change.from !== change.to)
}

/** The same for those who see what has this label: without the reasons that are above it. */
export function changesFor(
  { metadata: { status_history } }: Pick<StoredSignal, 'metadata'>,
  reader: Label,
  policy: LabelPolicy,
): Step[] {
  const told = status_history.map(({ rationale, ...step }) => {
    const isTold = rationale !== undefined && (!step.label || isHeldBy(step.label, reader, policy))
    return isTold ? { ...step, rationale } : step
  })
  return changesIn({ metadata: { status_history: told } })
}

/** The ledger of an insight has been told of so many steps. */
export function toldOf(current: StoredSignal, insight_id: string, steps: number): StoredSignal {
  const links = current.links.map((link) =>
    link.insight_id === insight_id ? { ...link, told: Math.max(link.told, steps) } : link,
  )
  return owing({ ...current, links })
}

/** Marks an open signal whose time is over. */
export function expired(current: StoredSignal, at: string, now_ms: number): StoredSignal {
  const { due_ts, ...rest } = current
  if (due_ts === undefined || due_ts > now_ms) return current
  return { ...rest, updated_at: at, metadata: { ...rest.metadata, expired_at: at } }
}

/** Appends to the history. Where the signal is higher than by itself, who reads the reason later must be as high. */
export function stepped(current: StoredSignal, from: SignalStatus, deed: Deed): StoredSignal {
  const { by, at, rationale, bulk, event, label = current.own_label && current.label } = deed
  const why = { ...(rationale === undefined ? {} : { rationale }), ...(bulk === undefined ? {} : { bulk }) }
  const what = { ...(event === undefined ? {} : { event }), ...(label === undefined ? {} : { label }) }
  const status_history = [...current.metadata.status_history, { from, to: current.status, by, at, ...why, ...what }]
  return owing(placed({ ...current, updated_at: at, metadata: { ...current.metadata, status_history } }))
}

/** What is still to be told: ledgers of steps, insights of who stands for it, merged signals of their merging. */
export function owing(current: StoredSignal): StoredSignal {
  const { links, merge, taken_in = [] } = current
  const steps = current.metadata.status_history.length
  const isOwed =
    links.some(({ told, stands }) => told < steps || stands !== merge?.key) ||
    taken_in.some(({ state }) => state !== 'taken')
  return { ...current, owes: isOwed ? 1 : 0 }
}
