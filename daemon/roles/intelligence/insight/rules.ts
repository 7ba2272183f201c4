// What may become of an insight: pure steps; what must follow in signals and ledger is owed in the insight itself.
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredEdition } from '../edition/model.ts'
import type { NewLedgerEvent } from '../ledger/model.ts'
import type { SignalStatus } from '../signal/model.ts'
import { type AttributedAction, isOpen, type StatusStep } from '../signal/rules.ts'
import { type InsightOutboxEntry, max_editions, max_links, type StoredInsight } from './model.ts'

/** A signal as it was when its link was asked for. */
export type LinkableSignal = { readonly signal_id: string; readonly status: SignalStatus; readonly steps: number }
/** Linked signals to where they stand, and how they came there. */
export type LinkedSignalStates = ReadonlyMap<
  string,
  { readonly status: SignalStatus; readonly merged_into?: string | undefined; readonly steps: readonly StatusStep[] }
>

/** Refuses `wrong_state` for one that is closed or about to be. */
export function checkNotClosed({ state, closing_edition_id }: StoredInsight): Refusal | undefined {
  if (state === 'closed') return refuse('wrong_state', 'the insight is closed')
  if (closing_edition_id === undefined) return undefined
  return refuse('wrong_state', 'the insight is being closed by an attested edition')
}

/** The insight with its first link, to the signal that it began with. */
export function openInsight(fresh: StoredInsight, signal: LinkableSignal, deed: AttributedAction): StoredInsight {
  const { signal_id } = signal
  const { by, at } = deed
  return addLink(recordLedgerEvents(fresh, [{ type: 'insight_opened', by, at, signal_id }]), signal, deed)
}

/** The same link again is no change. Refuses `wrong_state` when closed, or full. */
export function linkSignal(
  current: StoredInsight,
  signal: LinkableSignal,
  deed: AttributedAction,
): StoredInsight | Refusal {
  const known = current.links.find(({ signal_id }) => signal_id === signal.signal_id)
  if (known && !known.via) return current
  const refused = checkNotClosed(current)
  if (known) return refused ? current : makeLinkPermanent(current, signal.signal_id, deed)
  if (refused) return refused
  if (current.links.length >= max_links) return refuse('wrong_state', `the insight has ${max_links} linked signals`)
  return addLink({ ...current, updated_at: deed.at }, signal, deed)
}

export function addLink(
  current: StoredInsight,
  { signal_id, status, steps: told }: LinkableSignal,
  deed: AttributedAction,
  via?: string,
): StoredInsight {
  const { by, at } = deed
  const links = [...current.links, { signal_id, told, ...(via === undefined ? {} : { via: [via] }) }]
  const noted = recordLedgerEvents({ ...current, links }, [{ type: 'signal_linked', by, at, signal_id, status }])
  return addToOutbox(noted, [buildFollowEntry(noted, signal_id, told, deed, via)])
}

/** What a merged signal brought, and now somebody has linked: it stays when that one leaves. */
function makeLinkPermanent(current: StoredInsight, signal_id: string, deed: AttributedAction): StoredInsight {
  const links = current.links.map(({ via, ...link }) => {
    return link.signal_id === signal_id || via === undefined ? link : { ...link, via }
  })
  const told = links.find((each) => each.signal_id === signal_id)?.told ?? 0
  return addToOutbox({ ...current, updated_at: deed.at, links }, [buildFollowEntry(current, signal_id, told, deed)])
}

/**
 * A signal that cannot follow, as it stands for others above the insight by now: it is linked no more and owed nothing, and
 * whom it stood for stand for themselves. A closed insight stays as it was closed.
 */
export function dropUncoveredLink(
  current: StoredInsight,
  signal_id: string,
  { by, at }: AttributedAction,
): StoredInsight {
  if (current.state === 'closed' || !current.links.some((each) => each.signal_id === signal_id)) return current
  const others = current.links.filter((each) => each.signal_id !== signal_id)
  const links = others.map(({ merged_into, ...link }) => {
    return merged_into === undefined || merged_into === signal_id ? link : { ...link, merged_into }
  })
  const pending = current.pending.filter((debt) => {
    return (debt.type !== 'advance' && debt.type !== 'resolve') || debt.signal_id !== signal_id
  })
  return recordLedgerEvents({ ...current, updated_at: at, links, pending }, [
    { type: 'signal_unlinked', by, at, signal_id },
  ])
}

/** A link that came via a merged signal may be made more than once: each has its own debt. */
export function buildFollowEntry(
  { events }: StoredInsight,
  signal_id: string,
  told: number,
  deed: AttributedAction,
  via?: string,
): InsightOutboxEntry {
  const { by, at, rationale } = deed
  const why = { ...(rationale === undefined ? {} : { rationale }), ...(via === undefined ? {} : { via }) }
  const id = via === undefined ? `follow:${signal_id}` : `follow:${signal_id}:${via}:${events}`
  return { type: 'follow', id, signal_id, by, at, told, ...why }
}

/** Linked signals that stand for themselves; where they were asked, one taken out again counts before the insight is told. */
function listUnmergedLinks({ links }: StoredInsight, asked?: LinkedSignalStates): StoredInsight['links'] {
  const isAway = (into: string, id: string) => !asked || asked.get(id)?.merged_into === into
  return links.filter(({ merged_into, signal_id }) => merged_into === undefined || !isAway(merged_into, signal_id))
}

/** Refuses `wrong_state` for one that is not open. Linked signals that are not further yet will be under investigation. */
export function startInvestigation(current: StoredInsight, { by, at }: AttributedAction): StoredInsight | Refusal {
  if (current.state !== 'open') return refuse('wrong_state', `the insight is ${current.state}`)
  const next = { ...current, state: 'investigating' as const, updated_at: at, started_by: by, started_at: at }
  return addToOutbox(
    recordLedgerEvents(next, [{ type: 'investigation_started', by, at }]),
    listUnmergedLinks(current).map(({ signal_id }) => ({ type: 'advance', id: `advance:${signal_id}`, signal_id, by })),
  )
}

/** The same edition again is no change. Refuses `idempotency_mismatch`, `wrong_state` when closed, or full. */
export function addEdition(current: StoredInsight, edition: StoredEdition): StoredInsight | Refusal {
  const known = current.editions.find(({ edition_id }) => edition_id === edition.edition_id)
  if (known?.request_digest === edition.request_digest) return current
  if (known) return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
  const refused = checkNotClosed(current)
  if (refused) return refused
  if (current.editions.length >= max_editions) return refuse('wrong_state', `the insight has ${max_editions} editions`)
  return { ...current, updated_at: edition.created_at, editions: [...current.editions, edition] }
}

/**
 * Attests an edition. One that closes has every signal under investigation resolved, and then the insight closed. Refuses
 * `not_found`, and `wrong_state` for an attested one, an insight not under investigation, or signals that it cannot resolve.
 */
export function attestEdition(
  current: StoredInsight,
  edition_id: string,
  signalStates: LinkedSignalStates,
  deed: AttributedAction,
): StoredInsight | Refusal {
  const edition = current.editions.find((each) => each.edition_id === edition_id)
  if (!edition) return refuse('not_found', 'there is no such edition')
  if (edition.attested) return refuse('wrong_state', 'the edition is attested already')
  const refused = checkNotClosed(current) ?? (edition.closes ? checkMayClose(current, signalStates) : undefined)
  if (refused) return refused
  const editions = current.editions.map((each) => (each === edition ? { ...each, attested: deed } : each))
  const { by, at } = deed
  const happening: NewLedgerEvent = { type: 'edition_attested', by, at, edition_id, closes: edition.closes }
  const next = recordLedgerEvents({ ...current, editions, updated_at: at }, [happening])
  if (!edition.closes) return next
  const resolving = listUnmergedLinks(current, signalStates).map(
    ({ signal_id }): InsightOutboxEntry => ({ type: 'resolve', id: `resolve:${signal_id}`, signal_id, edition_id, by }),
  )
  const closing: InsightOutboxEntry = { type: 'close', id: 'close', edition_id, by }
  return addToOutbox({ ...next, closing_edition_id: edition_id }, [...resolving, closing])
}

function checkMayClose(current: StoredInsight, signalStates: LinkedSignalStates): Refusal | undefined {
  if (current.state !== 'investigating') return refuse('wrong_state', `the insight is ${current.state}`)
  const due = new Set(current.pending.flatMap((debt) => (debt.type === 'advance' ? [debt.signal_id] : [])))
  const hasNotBegun = (status: SignalStatus) => status === 'new' || status === 'acknowledged'
  return refuseOpenSignals(current, signalStates, (id, status) => hasNotBegun(status) && !due.has(id))
}

/** Closes without an edition. Refuses `wrong_state` while a linked signal is open, naming each. */
export function closeInsight(
  current: StoredInsight,
  signalStates: LinkedSignalStates,
  deed: AttributedAction,
): StoredInsight | Refusal {
  const refused = checkNotClosed(current) ?? refuseOpenSignals(current, signalStates, (_, status) => isOpen(status))
  return refused ?? finishClosing(current, signalStates, deed)
}

/** The last debt of an attested edition that closes: by now every linked signal is resolved or dismissed. */
export function closeByEdition(
  current: StoredInsight,
  edition_id: string,
  signalStates: LinkedSignalStates,
  deed: AttributedAction,
): StoredInsight {
  return current.state === 'closed' ? current : finishClosing(current, signalStates, deed, edition_id)
}

/** The ledger learns of every step of the signals first, so that nothing comes after the closing. */
function finishClosing(
  current: StoredInsight,
  signalStates: LinkedSignalStates,
  deed: AttributedAction,
  edition_id?: string,
): StoredInsight {
  const { by, at, rationale } = deed
  let told: StoredInsight = current
  for (const [signal_id, { steps }] of signalStates) told = recordSignalSteps(told, signal_id, steps)
  const next = { ...told, state: 'closed' as const, updated_at: at, closed_by: by, closed_at: at }
  const why = { ...(edition_id === undefined ? {} : { edition_id }), ...(rationale === undefined ? {} : { rationale }) }
  return recordLedgerEvents(next, [{ type: 'insight_closed', by, at, ...why }])
}

function refuseOpenSignals(
  current: StoredInsight,
  signalStates: LinkedSignalStates,
  isInTheWay: (signal_id: string, status: SignalStatus) => boolean,
): Refusal | undefined {
  const own = new Set(listUnmergedLinks(current, signalStates).map(({ signal_id }) => signal_id))
  const open = [...signalStates].filter(([id, { status }]) => own.has(id) && isInTheWay(id, status))
  if (open.length === 0) return undefined
  const named = open.map(([id, { status }]) => `${id} (${status})`)
  const more = named.length > 20 ? ` and ${named.length - 20} more` : ''
  const detail = `linked signals are neither resolved nor dismissed: ${named.slice(0, 20).join(', ')}${more}`
  const faults = open.map(([id, { status }]) => ({ path: 'linked_signal_ids', message: `${id} is ${status}` }))
  return refuse('wrong_state', detail, faults)
}

/** The ledger learns of steps of a linked signal; what it knows is left out, and what comes after the closing. */
export function recordSignalSteps(
  current: StoredInsight,
  signal_id: string,
  steps: readonly StatusStep[],
): StoredInsight {
  if (current.state === 'closed') return current
  const known = current.links.find((each) => each.signal_id === signal_id)?.told
  const fresh = steps.filter(({ at }) => known !== undefined && at >= known)
  if (fresh.length === 0) return current
  const told = (fresh.at(-1)?.at ?? 0) + 1
  const links = current.links.map((each) => (each.signal_id === signal_id ? { ...each, told } : each))
  return recordLedgerEvents(
    { ...current, links },
    fresh.map(({ change: { event: _event, label: _label, ...change } }) => ({
      type: 'signal_disposition_set',
      signal_id,
      ...change,
    })),
  )
}

/** Numbers what happened; the ledger is owed each event. */
export function recordLedgerEvents(current: StoredInsight, happenings: readonly NewLedgerEvent[]): StoredInsight {
  const debts = happenings.map((happening, at): InsightOutboxEntry => {
    const seq = current.events + at + 1
    return { type: 'event', id: `event:${seq}`, event: { ...happening, seq } }
  })
  return addToOutbox({ ...current, events: current.events + happenings.length }, debts)
}

export function addToOutbox(current: StoredInsight, more: readonly InsightOutboxEntry[]): StoredInsight {
  const pending = [...current.pending, ...more]
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}

/** These debts are paid; a repeat changes nothing. */
export function removeFromOutbox(current: StoredInsight, ids: ReadonlySet<string>): StoredInsight {
  const pending = current.pending.filter(({ id }) => !ids.has(id))
  return { ...current, pending, owes: pending.length ? 1 : 0 }
}
