// Pays what an insight owes: events of its ledger, and steps of linked signals. Every payment may be repeated.
import type { Call } from '../../../kernel/call.ts'
import { isRefused } from '../../../kernel/errors.ts'
import type { Doc } from '../../../kernel/store.ts'
import { ledgerEvents, ledgerId } from '../ledger/model.ts'
import { changeSignal } from '../signal/change.ts'
import type { StoredSignal } from '../signal/model.ts'
import { advanced, linked, resolvedBy, unlinked } from '../signal/rules.ts'
import { changeByStandings } from './change.ts'
import { insights, type Pending, type StoredInsight } from './model.ts'
import { closedByEdition, paid } from './rules.ts'

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
      await pay(call, doc, debt)
      done.add(debt.id)
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

async function pay(call: Call, doc: Doc<StoredInsight>, debt: Pending): Promise<void> {
  if (debt.type === 'event') return payEvent(call, doc, debt)
  if (debt.type === 'close') return payClose(call, doc, debt)
  await paySignal(call, doc, debt)
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

/** In the name of whoever decided it, at the time that it comes about. Throws when the signal cannot be reached. */
export async function paySignal(
  call: Call,
  { id, value }: Pick<Doc<StoredInsight>, 'id' | 'value'>,
  debt: SignalDebt,
): Promise<Doc<StoredSignal>> {
  const rule = (current: StoredSignal): StoredSignal => {
    const deed = { by: debt.by, at: call.nowIso() }
    if (debt.type === 'advance') return advanced(current, { ...deed, rationale: 'an investigation of it has begun' })
    if (debt.type === 'unfollow') return unlinked(current, id, debt.via)
    if (debt.type === 'follow') {
      const { told, rationale = 'linked to an insight', via } = debt
      const link = { insight_id: id, label: value.label, told, ...(via === undefined ? {} : { via: [via] }) }
      return linked(current, link, { ...deed, rationale })
    }
    const by = { edition_id: debt.edition_id, insight_id: id }
    return resolvedBy(current, by, { ...deed, rationale: 'the edition that closes its investigation was attested' })
  }
  const done = await changeSignal(call, debt.signal_id, rule, `intelligence.signal.${debt.type}`)
  if (isRefused(done)) throw done
  return done
}
