// Carries out bulk dispositions, a piece at a time. What a piece did is in the signals' own histories, so that one that
// was cut short is neither done twice nor forgotten.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { dominates } from '../../../kernel/label.ts'
import type { Worker } from '../../../kernel/role.ts'
import type { Doc } from '../../../kernel/store.ts'
import { bulks, type StoredBulk } from '../bulk/model.ts'
import { decided, isMovedBy, type Outcome, undecided } from '../bulk/rules.ts'
import { changeSignal } from '../signal/change.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { decidedByPerson } from '../signal/rules.ts'
import { eachOwing } from './each-owing.ts'

export const bulk: Worker = { name: 'bulk', when: { every_ms: 5_000 }, run: (call) => eachOwing(call, bulks, carryOut) }

/** Signals whose outcomes are stored together: between two pieces a cancellation is noticed. */
const piece = 50

async function carryOut(call: Call, { id }: Doc<StoredBulk>): Promise<void> {
  for (;;) {
    if (call.signal.aborted) return
    const doc = await call.store(bulks).get(id)
    if (doc.value.owes === 0) return
    const isEnding = doc.value.state === 'cancelling'
    const all = undecided(doc.value, isEnding ? doc.value.items.length : piece)
    const answers = await Promise.all(
      // Of one that is cancelled, only the piece that was under way may have been done.
      all.map((signal_id, at) =>
        isEnding ? (at < piece ? left(call, id, signal_id) : untouched) : dispose(call, doc, signal_id),
      ),
    )
    const outcomes = new Map(all.map((signal_id, at) => [signal_id, answers[at] ?? untouched]))
    await call
      .store(bulks)
      .update(id, ({ value }) => ({ next: decided(value, outcomes, call.nowIso()), answer: undefined }))
  }
}

const untouched: Outcome = { outcome: 'cancelled' }

async function left(call: Call, bulk_id: string, signal_id: string): Promise<Outcome> {
  const doc = await call.store(signals).find(signal_id)
  return doc && isMovedBy(doc.value, bulk_id) ? { outcome: 'done' } : untouched
}

/** In the name of whoever asked, and by what that one may know of. Throws when the store cannot answer now. */
async function dispose(call: Call, { id, value }: Doc<StoredBulk>, signal_id: string): Promise<Outcome> {
  const { created_by: by, disposition, rationale, tenant_id, clearance } = value
  const rule = (current: StoredSignal) => {
    if (isMovedBy(current, id)) return current
    const maySee = dominates({ clearance, tenant_id }, current.label, call.site.labels)
    if (current.tenant_id !== tenant_id || !maySee) return refuse('not_found', 'there is no such signal')
    return decidedByPerson(current, disposition, { by, at: call.nowIso(), rationale, bulk: id })
  }
  try {
    const done = await changeSignal(call, signal_id, rule, 'intelligence.bulk.dispose', { bulk: id, by })
    return isRefused(done) ? { outcome: 'refused', reason: done.message } : { outcome: 'done' }
  } catch (error) {
    if (isRefused(error) && error.code === 'not_found') return { outcome: 'refused', reason: error.message }
    throw error
  }
}
