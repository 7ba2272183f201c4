// Pays what an insight owes: events of its ledger, and steps of linked signals. Every payment may be repeated.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { isHeldBy } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import { ledgerEvents, ledgerId } from '../ledger/model.ts'
import { changeSignal } from '../signal/change.ts'
import type { StoredSignal } from '../signal/model.ts'
import { advanced, linked, resolvedBy, unlinked } from '../signal/rules.ts'
import { changeByStandings, changeInsight } from './change.ts'
import { insights, type Pending, type StoredInsight } from './model.ts'
import { closedByEdition, paid, unheld } from './rules.ts'

/** Debts that are paid before the insight is told so: each time it is written whole. */
const at_once = 50

/** Pays in order, until all is paid or the call is over. Throws what cannot be paid now; the rest then stays owed. */
export async function settle(call: Call, doc: Doc<StoredInsight>): Promise<void> {
  const done = new Set<string>()
  try {
    for (const debt of doc.value.pending) {
      if (call.signal.aborted) return
      // Only when it is certain that all before it is paid.
      if (debt.type === 'close') await noteAsPaid(call, doc.id, done)
      const refused = await pay(call, doc, debt)
      done.add(debt.id)
      // Less is owed than this document says.
      if (refused) return
      if (done.size >= at_once) await noteAsPaid(call, doc.id, done)
    }
  } finally {
    await noteAsPaid(call, doc.id, done)
  }
}

async function noteAsPaid(call: Call, insight_id: string, done: Set<string>): Promise<void> {
  if (done.size === 0) return
  const { doc } = await call
    .store(insights)
    .update(insight_id, ({ value }) => ({ next: paid(value, done), answer: undefined }))
  done.clear()
  if (doc.value.owes) call.wake('relay')
}

async function pay(call: Call, doc: Doc<StoredInsight>, debt: Pending): Promise<Refused | undefined> {
  if (debt.type !== 'event' && debt.type !== 'close') {
    const paid = await paySignal(call, doc, debt)
    return isRefused(paid) ? paid : undefined
  }
  if (debt.type === 'event') await payEvent(call, doc, debt)
  else await payClose(call, doc, debt)
  return undefined
}

async function payEvent(call: Call, { id, value }: Doc<StoredInsight>, debt: Extract<Pending, { type: 'event' }>) {
  const { tenant_id, label } = value
  const { seq } = debt.event
  const stored = { tenant_id, label, insight_id: id, seq, event: debt.event }
  await call.store(ledgerEvents).create(ledgerId(id, seq), stored)
}

async function payClose(
  call: Call,
  { id }: Doc<StoredInsight>,
  { edition_id, by }: Extract<Pending, { type: 'close' }>,
) {
  const done = await changeByStandings(
    call,
    id,
    { edition_id, by },
    (current, standings) => closedByEdition(current, edition_id, standings, { by, at: call.nowIso() }),
    'intelligence.insight.closed',
  )
  if (isRefused(done)) throw done
}

type SignalDebt = Extract<Pending, { signal_id: string }>

/**
 * In the name of whoever decided it, at the time that it comes about. Refuses `label_denied` for a link of a signal that was
 * raised above the insight since; the insight has dropped it then. Throws when the signal cannot be reached.
 */
export async function paySignal(
  call: Call,
  { id, value }: Pick<Doc<StoredInsight>, 'id' | 'value'>,
  debt: SignalDebt,
): Promise<Doc<StoredSignal> | Refused> {
  const rule = (current: StoredSignal): StoredSignal | Refused => {
    const deed = { by: debt.by, at: call.nowIso() }
    if (debt.type === 'advance') return advanced(current, { ...deed, rationale: 'an investigation of it has begun' })
    if (debt.type === 'unfollow')
      return unlinked(current, id, debt.via, {
        ...deed,
        rationale: 'the signal that had brought the link was taken out',
      })
    if (debt.type === 'follow') {
      if (!mayFollow(call, { id, value }, current))
        return refuse('label_denied', 'the label of the insight does not hold that of the signal any more')
      const { told, via } = debt
      const { rationale = via === undefined ? 'linked to an insight' : 'it stands for a signal that is linked' } = debt
      const link = { insight_id: id, label: value.label, told, ...(via === undefined ? {} : { via: [via] }) }
      return linked(current, link, { ...deed, rationale })
    }
    const by = { edition_id: debt.edition_id, insight_id: id }
    return resolvedBy(current, by, { ...deed, rationale: 'the edition that closes its investigation was attested' })
  }
  const done = await changeSignal(call, debt.signal_id, rule, `intelligence.signal.${debt.type}`)
  if (isRefused(done)) await dropLink(call, id, debt)
  return done
}

function mayFollow(call: Call, { id, value }: Pick<Doc<StoredInsight>, 'id' | 'value'>, signal: StoredSignal): boolean {
  return signal.links.some((each) => each.insight_id === id) || isHeldBy(signal.label, value.label, call.site.labels)
}

async function dropLink(call: Call, insight_id: string, { signal_id, by }: SignalDebt): Promise<void> {
  const rule = (current: StoredInsight) => unheld(current, signal_id, { by, at: call.nowIso() })
  await changeInsight(call, insight_id, { signal_id, by }, rule, 'intelligence.insight.link-dropped')
}
