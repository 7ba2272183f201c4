// Pays what insights and signals owe each other, soon after it arises and again while it cannot be paid.
import type { Call } from '../../../kernel/call.ts'
import type { Worker } from '../../../kernel/role.ts'
import type { Doc } from '../../../kernel/store.ts'
import { insights } from '../insight/model.ts'
import { settle } from '../insight/settle.ts'
import { settleMerges, tellInsights } from '../merge/settle.ts'
import { type StoredSignal, signals } from '../signal/model.ts'
import { tellLedgers } from '../signal/tell-ledgers.ts'
import { eachOwing } from './each-owing.ts'

export const relay: Worker = { name: 'relay', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  await eachOwing(call, insights, settle)
  await eachOwing(call, signals, settleSignal)
}

async function settleSignal(call: Call, doc: Doc<StoredSignal>): Promise<void> {
  await settleMerges(call, doc)
  await tellInsights(call, doc)
  await tellLedgers(call, doc)
}
