// Pays what merging leaves owed: signals are told by their survivor, and insights by the signals linked to them.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused } from '../../../kernel/errors.ts'
import { isHeldBy } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import { insights } from '../insight/model.ts'
import { stoodIn } from '../insight/standing.ts'
import { changeSignal } from '../signal/change.ts'
import { type StoredSignal, signals, type TakenIn } from '../signal/model.ts'
import { claimed, givenUp, letGo, released, stoodFor, taken } from './rules.ts'

/** Those that could not be merged after all, with the reason; the survivor has forgotten them by then. */
export type LeftOut = { readonly signal_id: string; readonly reason: string }

/** Every payment may be repeated. Throws what the store cannot do now. */
export async function settleMerges(call: Call, survivor: Doc<StoredSignal>): Promise<LeftOut[]> {
  const left_out: LeftOut[] = []
  for (const item of survivor.value.taken_in ?? []) {
    const { signal_id, state } = item
    if (state === 'taken') continue
    const refused = state === 'taking' ? await take(call, survivor, item) : await leave(call, survivor, item)
    if (refused) left_out.push({ signal_id, reason: refused.message })
  }
  return left_out
}

async function take(call: Call, survivor: Doc<StoredSignal>, item: TakenIn): Promise<Refused | undefined> {
  const { signal_id, by } = item
  const more = { survivor: survivor.id, by }
  const rule = (current: StoredSignal) => claimed(current, survivor, item, call.site.labels)
  const done = await changeSignal(call, signal_id, rule, 'intelligence.signal.merged', more)
  const { labels } = call.site
  const next = (current: StoredSignal) =>
    isRefused(done) ? givenUp(current, signal_id, call.nowIso(), labels) : taken(current, signal_id, call.nowIso())
  const detail = { signal: signal_id, by, ...(isRefused(done) ? { left_out: done.message } : {}) }
  const now = await changeSignal(call, survivor.id, next, 'intelligence.signal.merge-settled', detail)
  // Told late, when it had been taken out again: it is merged with nothing then.
  const isKnown = !isRefused(now) && now.value.taken_in?.some(({ key }) => key === item.key)
  if (!isRefused(done) && !isKnown) await release(call, item, survivor.id)
  return isRefused(done) ? done : undefined
}

async function leave(call: Call, { id }: Doc<StoredSignal>, item: TakenIn): Promise<undefined> {
  const { signal_id, by } = item
  await release(call, item, id)
  const gone = (current: StoredSignal) => letGo(current, signal_id, call.nowIso(), call.site.labels)
  await changeSignal(call, id, gone, 'intelligence.signal.merge-settled', { signal: signal_id, by })
}

async function release(call: Call, item: TakenIn, survivor: string): Promise<void> {
  const apart = (current: StoredSignal) => released(current, item)
  await changeSignal(call, item.signal_id, apart, 'intelligence.signal.unmerged', { survivor, by: item.by })
}

/** Tells each linked insight that another signal stands for this one, or none any more. Acts for every tenant. */
export async function tellInsights(call: Call, { id, value }: Doc<StoredSignal>): Promise<void> {
  const { into, key } = value.merge ?? {}
  const survivor = into === undefined ? undefined : await call.store(signals).get(into)
  const deed = value.metadata.status_history.findLast(({ event }) => event === 'merged' || event === 'unmerged')
  for (const { insight_id, label, stands } of value.links) {
    if (stands === key || !deed) continue
    const { by, at } = deed
    const { doc } = await call.store(insights).update(insight_id, (current) => {
      const by_whom = survivor && {
        ...standOf(survivor),
        holds: isHeldBy(survivor.value.label, label, call.site.labels),
      }
      const next = stoodIn(current.value, id, by_whom, { by, at })
      return next === current.value ? { answer: undefined } : { next, answer: undefined }
    })
    if (doc.value.owes) call.wake('relay')
    await call
      .store(signals)
      .update(id, ({ value: current }) => ({ next: stoodFor(current, insight_id, key), answer: undefined }))
  }
}

function standOf({ id, value }: Doc<StoredSignal>) {
  return { signal_id: id, status: value.status, steps: value.metadata.status_history.length }
}
