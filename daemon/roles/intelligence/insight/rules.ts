// What may become of an insight: pure steps; what must follow in signals and ledger is owed in the insight itself.
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { StoredEdition } from '../edition/model.ts'
import type { Happening } from '../ledger/model.ts'
import type { SignalStatus } from '../signal/model.ts'
import { type Deed, isOpen, type Step } from '../signal/rules.ts'
import { most_editions, most_links, type Pending, type StoredInsight } from './model.ts'

/** A signal as it was when its link was asked for. */
export type Linkable = { readonly signal_id: string; readonly status: SignalStatus; readonly steps: number }
/** Linked signals to where they stand, and how they came there. */
export type Standings = ReadonlyMap<
  string,
  { readonly status: SignalStatus; readonly merged_into?: string | undefined; readonly steps: readonly Step[] }
>

/** Refuses `wrong_state` for one that is closed or about to be. */
export function closedness({ state, closing_edition_id }: StoredInsight): Refused | undefined {
  if (state === 'closed') return refuse('wrong_state', 'the insight is closed')
  if (closing_edition_id === undefined) return undefined
  return refuse('wrong_state', 'the insight is being closed by an attested edition')
}

/** The insight with its first link, to the signal that it began with. */
export function opened(fresh: StoredInsight, signal: Linkable, deed: Deed): StoredInsight {
  const { signal_id } = signal
  const { by, at } = deed
  return withLink(noting(fresh, [{ type: 'insight_opened', by, at, signal_id }]), signal, deed)
}

/** The same link again is no change. Refuses `wrong_state` when closed, or full. */
export function link(current: StoredInsight, signal: Linkable, deed: Deed): StoredInsight | Refused {
  const known = current.links.find(({ signal_id }) => signal_id === signal.signal_id)
  if (known && !known.via) return current
  const refused = closedness(current)
  if (known) return refused ? current : withOwnLink(current, signal.signal_id, deed)
  if (refused) return refused
  if (current.links.length >= most_links) return refuse('wrong_state', `the insight has ${most_links} linked signals`)
  return withLink({ ...current, updated_at: deed.at }, signal, deed)
}

export function withLink(
  current: StoredInsight,
  { signal_id, status, steps: told }: Linkable,
  deed: Deed,
  via?: string,
): StoredInsight {
  const { by, at } = deed
  const links = [...current.links, { signal_id, told, ...(via === undefined ? {} : { via: [via] }) }]
  const noted = noting({ ...current, links }, [{ type: 'signal_linked', by, at, signal_id, status }])
  return owing(noted, [following(noted, signal_id, told, deed, via)])
}

/** What a merged signal brought, and now somebody has linked: it stays when that one leaves. */
function withOwnLink(current: StoredInsight, signal_id: string, deed: Deed): StoredInsight {
  const links = current.links.map(({ via, ...link }) => {
    return link.signal_id === signal_id || via === undefined ? link : { ...link, via }
  })
  const told = links.find((each) => each.signal_id === signal_id)?.told ?? 0
  return owing({ ...current, updated_at: deed.at, links }, [following(current, signal_id, told, deed)])
}

/**
 * A signal that cannot follow, as it stands for others above the insight by now: it is linked no more and owed nothing, and
 * whom it stood for stand for themselves. A closed insight stays as it was closed.
 */
export function unheld(current: StoredInsight, signal_id: string, { by, at }: Deed): StoredInsight {
  if (current.state === 'closed' || !current.links.some((each) => each.signal_id === signal_id)) return current
  const others = current.links.filter((each) => each.signal_id !== signal_id)
  const links = others.map(({ merged_into, ...link }) => {
    return merged_into === undefined || merged_into === signal_id ? link : { ...link, merged_into }
  })
  const pending = current.pending.filter((debt) => {
    return (debt.type !== 'advance' && debt.type !== 'resolve') || debt.signal_id !== signal_id
  })
  return noting({ ...current, updated_at: at, links, pending }, [{ type: 'signal_unlinked', by, at, signal_id }])
}

/** A link that came via a merged signal may be made more than once: each has its own debt. */
export function following(
  { events }: StoredInsight,
  signal_id: string,
  told: number,
  deed: Deed,
  via?: string,
): Pending {
  const { by, at, rationale } = deed
  const why = { ...(rationale === undefined ? {} : { rationale }), ...(via === undefined ? {} : { via }) }
  const id = via === undefined ? `follow:${signal_id}` : `follow:${signal_id}:${via}:${events}`
  return { type: 'follow', id, signal_id, by, at, told, ...why }
}

/** Linked signals that stand for themselves; where they were asked, one taken out again counts before the insight is told. */
function standing({ links }: StoredInsight, asked?: Standings): StoredInsight['links'] {
  const isAway = (into: string, id: string) => !asked || asked.get(id)?.merged_into === into
  return links.filter(({ merged_into, signal_id }) => merged_into === undefined || !isAway(merged_into, signal_id))
}

/** Refuses `wrong_state` for one that is not open. Linked signals that are not further yet will be under investigation. */
export function started(current: StoredInsight, { by, at }: Deed): StoredInsight | Refused {
  if (current.state !== 'open') return refuse('wrong_state', `the insight is ${current.state}`)
  const next = { ...current, state: 'investigating' as const, updated_at: at, started_by: by, started_at: at }
  return owing(
    noting(next, [{ type: 'investigation_started', by, at }]),
    standing(current).map(({ signal_id }) => ({ type: 'advance', id: `advance:${signal_id}`, signal_id, by })),
  )
}

/** The same edition again is no change. Refuses `idempotency_mismatch`, `wrong_state` when closed, or full. */
export function drafted(current: StoredInsight, edition: StoredEdition): StoredInsight | Refused {
  const known = current.editions.find(({ edition_id }) => edition_id === edition.edition_id)
  if (known?.request_digest === edition.request_digest) return current
  if (known) return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
  const refused = closedness(current)
  if (refused) return refused
  if (current.editions.length >= most_editions)
    return refuse('wrong_state', `the insight has ${most_editions} editions`)
  return { ...current, updated_at: edition.created_at, editions: [...current.editions, edition] }
}

/**
 * Attests an edition. One that closes has every signal under investigation resolved, and then the insight closed. Refuses
 * `not_found`, and `wrong_state` for an attested one, an insight not under investigation, or signals that it cannot resolve.
 */
export function attested(
  current: StoredInsight,
  edition_id: string,
  standings: Standings,
  deed: Deed,
): StoredInsight | Refused {
  const edition = current.editions.find((each) => each.edition_id === edition_id)
  if (!edition) return refuse('not_found', 'there is no such edition')
  if (edition.attested) return refuse('wrong_state', 'the edition is attested already')
  const refused = closedness(current) ?? (edition.closes ? closingFault(current, standings) : undefined)
  if (refused) return refused
  const editions = current.editions.map((each) => (each === edition ? { ...each, attested: deed } : each))
  const { by, at } = deed
  const happening: Happening = { type: 'edition_attested', by, at, edition_id, closes: edition.closes }
  const next = noting({ ...current, editions, updated_at: at }, [happening])
  if (!edition.closes) return next
  const resolving = standing(current, standings).map(
    ({ signal_id }): Pending => ({ type: 'resolve', id: `resolve:${signal_id}`, signal_id, edition_id, by }),
  )
  const closing: Pending = { type: 'close', id: 'close', edition_id, by }
  return owing({ ...next, closing_edition_id: edition_id }, [...resolving, closing])
}

function closingFault(current: StoredInsight, standings: Standings): Refused | undefined {
  if (current.state !== 'investigating') return refuse('wrong_state', `the insight is ${current.state}`)
  const due = new Set(current.pending.flatMap((debt) => (debt.type === 'advance' ? [debt.signal_id] : [])))
  const hasNotBegun = (status: SignalStatus) => status === 'new' || status === 'acknowledged'
  return naming(current, standings, (id, status) => hasNotBegun(status) && !due.has(id))
}

/** Closes without an edition. Refuses `wrong_state` while a linked signal is open, naming each. */
export function closed(current: StoredInsight, standings: Standings, deed: Deed): StoredInsight | Refused {
  const refused = closedness(current) ?? naming(current, standings, (_, status) => isOpen(status))
  return refused ?? shut(current, standings, deed)
}

/** The last debt of an attested edition that closes: by now every linked signal is resolved or dismissed. */
export function closedByEdition(
  current: StoredInsight,
  edition_id: string,
  standings: Standings,
  deed: Deed,
): StoredInsight {
  return current.state === 'closed' ? current : shut(current, standings, deed, edition_id)
}

/** The ledger learns of every step of the signals first, so that nothing comes after the closing. */
function shut(current: StoredInsight, standings: Standings, deed: Deed, edition_id?: string): StoredInsight {
  const { by, at, rationale } = deed
  let told: StoredInsight = current
  for (const [signal_id, { steps }] of standings) told = toldOfSteps(told, signal_id, steps)
  const next = { ...told, state: 'closed' as const, updated_at: at, closed_by: by, closed_at: at }
  const why = { ...(edition_id === undefined ? {} : { edition_id }), ...(rationale === undefined ? {} : { rationale }) }
  return noting(next, [{ type: 'insight_closed', by, at, ...why }])
}

function naming(
  current: StoredInsight,
  standings: Standings,
  isInTheWay: (signal_id: string, status: SignalStatus) => boolean,
): Refused | undefined {
  const own = new Set(standing(current, standings).map(({ signal_id }) => signal_id))
  const open = [...standings].filter(([id, { status }]) => own.has(id) && isInTheWay(id, status))
  if (open.length === 0) return undefined
  const named = open.map(([id, { status }]) => `${id} (${status})`)
  const more = named.length > 20 ? ` and ${named.length - 20} more` : ''
  const detail = `linked signals are neither resolved nor dismissed: ${named.slice(0, 20).join(', ')}${more}`
  const faults = open.map(([id, { status }]) => ({ path: 'linked_signal_ids', message: `${id} is ${status}` }))
  return refuse('wrong_state', detail, faults)
}

/** The ledger learns of steps of a linked signal; what it knows is left out, and what comes after the closing. */
export function toldOfSteps(current: StoredInsight, signal_id: string, steps: readonly Step[]): StoredInsight {
  if (current.state === 'closed') return current
  const known = current.links.find((each) => each.signal_id === signal_id)?.told
  const fresh = steps.filter(({ at }) => known !== undefined && at >= known)
  if (fresh.length === 0) return current
  const told = (fresh.at(-1)?.at ?? 0) + 1
  const links = current.links.map((each) => (each.signal_id === signal_id ? { ...each, told } : each))
  return noting(
    { ...current, links },
    fresh.map(({ change: { event: _event, label: _label, ...change } }) => ({
      type: 'signal_disposition_set',
      signal_id,
      ...change,
    })),
  )
}

/** Numbers what happened; the ledger is owed each event. */
export function noting(current: StoredInsight, happenings: readonly Happening[]): StoredInsight {
  const debts = happenings.map((happening, at): Pending => {
    const seq = current.events + at + 1
    return { type: 'event', id: `event:${seq}`, event: { ...happening, seq } }
  })
  return owing({ ...current, events: current.events + happenings.length }, debts)
}

export function owing(current: StoredInsight, more: readonly Pending[]): StoredInsight {
  const pending = [...current.pending, ...more]
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

/** These debts are paid; a repeat changes nothing. */
export function paid(current: StoredInsight, ids: ReadonlySet<string>): StoredInsight {
  const pending = current.pending.filter(({ id }) => !ids.has(id))
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}
