// Delivers status changes of a signal to the ledgers of its linked insights. A repeat adds no event twice.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { insights } from '../insight/model.ts'
import { recordSignalSteps } from '../insight/outbox/rules.ts'
import { type StoredSignal, signals } from './model.ts'
import { listReadableStatusSteps, markStepsReported, type StatusStep } from './rules.ts'

export async function notifyLedgers(call: Call, { id, value }: Doc<StoredSignal>): Promise<void> {
  const steps = value.metadata.status_history.length
  for (const link of value.links) {
    if (link.told >= steps) continue
    const newSteps = listReadableStatusSteps(value, link.label, call.site.labels).filter(({ at }) => at >= link.told)
    if (newSteps.length > 0) await notifyLedger(call, link.insight_id, id, newSteps)
    await call.store(signals).update(id, ({ value: current }) => ({
      next: markStepsReported(current, link.insight_id, steps),
      answer: undefined,
    }))
  }
}

async function notifyLedger(
  call: Call,
  insight_id: string,
  signal_id: string,
  newSteps: readonly StatusStep[],
): Promise<void> {
  const { doc } = await call.store(insights).update(insight_id, ({ value }) => {
    const next = recordSignalSteps(value, signal_id, newSteps)
    return next === value ? { answer: undefined } : { next, answer: undefined }
  })
  if (doc.value.owes) call.wake('relay')
}
