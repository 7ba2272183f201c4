// What may become of a signal: one table of transitions, and pure steps from what is stored to what is stored next.
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
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

/** A step that a person asks for. */
export function decidedByPerson(current: StoredSignal, to: SignalStatus, deed: Deed): StoredSignal | Refused {
  return become(current, to, deed)
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

/** Follows a link that an insight has made; the same link again is no change. */
export function linked(current: StoredSignal, link: Link, deed: Deed): StoredSignal {
  if (current.links.some(({ insight_id }) => insight_id === link.insight_id)) return current
  const steps = current.metadata.status_history.length
  // A link is no news to a ledger that knows all before it.
  const links = [...current.links, link].map((each) => (each.told >= steps ? { ...each, told: steps + 1 } : each))
  return stepped({ ...current, links }, current.status, deed)
}

export type Step = { readonly at: number; readonly change: StatusChange }

/** Changes of status with their place in the history, which holds links, too. */
export function changesIn({ metadata: { status_history } }: Pick<StoredSignal, 'metadata'>): Step[] {
  return status_history.map((change, at) => ({ at, change })).filter(({ change }) => change.from !== change.to)
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

function stepped(current: StoredSignal, from: SignalStatus, { by, at, rationale, bulk }: Deed): StoredSignal {
  const why = { ...(rationale === undefined ? {} : { rationale }), ...(bulk === undefined ? {} : { bulk }) }
  const status_history = [...current.metadata.status_history, { from, to: current.status, by, at, ...why }]
  return owing(placed({ ...current, updated_at: at, metadata: { ...current.metadata, status_history } }))
}

function owing(current: StoredSignal): StoredSignal {
  const steps = current.metadata.status_history.length
  return { ...current, owes: current.links.some(({ told }) => told < steps) ? 1 : 0 }
}
