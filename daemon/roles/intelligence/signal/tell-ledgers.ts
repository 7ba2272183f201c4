// Tells the ledgers of linked insights what became of a signal. Every step is told once, however often it is tried.
import type { Call } from '../../../kernel/call.ts'
import type { Doc } from '../../../kernel/store.ts'
import { insights } from '../insight/model.ts'
import { toldOfSteps } from '../insight/rules.ts'
import { type StoredSignal, signals } from './model.ts'
import { changesFor, type Step, toldOf } from './rules.ts'

export async function tellLedgers(call: Call, { id, value }: Doc<StoredSignal>): Promise<void> {
  const steps = value.metadata.status_history.length
  for (const link of value.links) {
    if (link.told >= steps) continue
    const news = changesFor(value, link.label, call.site.labels).filter(({ at }) => at >= link.told)
    if (news.length > 0) await tell(call, link.insight_id, id, news)
    await call
      .store(signals)
      .update(id, ({ value: current }) => ({ next: toldOf(current, link.insight_id, steps), answer: undefined }))
  }
}

async function tell(call: Call, insight_id: string, signal_id: string, news: readonly Step[]): Promise<void> {
  const { doc } = await call.store(insights).update(insight_id, ({ value }) => {
    const next = toldOfSteps(value, signal_id, news)
    return next === value ? { answer: undefined } : { next, answer: undefined }
  })
  if (doc.value.owes) call.wake('relay')
}
