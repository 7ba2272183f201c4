// Delivers pending updates between insights and signals, soon after they arise and again after failures.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { deliverInsightOutbox } from '../insight/deliver-insight-outbox.ts'
import { insights } from '../insight/model.ts'
import { deliverMerges, notifyInsights } from '../merge/deliver-merges.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { notifyLedgers } from '../signal/notify-ledgers.ts'
import { forEachPending } from './for-each-pending.ts'

export const relay: Worker = { name: 'relay', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  await forEachPending(call, insights, deliverInsightOutbox)
  await forEachPending(call, signals, deliverSignalOutbox)
}

async function deliverSignalOutbox(call: Call, doc: Doc<StoredSignal>): Promise<void> {
  await deliverMerges(call, doc)
  await notifyInsights(call, doc)
  await notifyLedgers(call, doc)
}
