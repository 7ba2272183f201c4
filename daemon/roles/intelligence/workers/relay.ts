// Pays what insights and signals owe each other, soon after it arises and again while it cannot be paid.
import type { Call } from '../../../kernel/call.ts'
import type { Worker } from '../../../kernel/role.ts'
import type { Collection, Doc, Stored } from '../../../kernel/store.ts'
import { insights } from '../insight/model.ts'
import { settle } from '../insight/settle.ts'
import { signals } from '../signal/model.ts'
import { tellLedgers } from '../signal/tell-ledgers.ts'

export const relay: Worker = { name: 'relay', when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  await payAll(call, insights, settle)
  await payAll(call, signals, tellLedgers)
}

async function payAll<T extends Stored>(
  call: Call,
  of: Collection<T>,
  pay: (call: Call, doc: Doc<T>) => Promise<void>,
): Promise<void> {
  let cursor: string | undefined
  do {
    const query = { filter: { owes: 1 }, limit: 100, ...(cursor === undefined ? {} : { cursor }), fresh: true }
    const page = await call.store(of).list(query)
    for (const doc of page.docs) {
      if (call.signal.aborted) return
      await pay(call, doc).catch((error: unknown) => {
        // One that cannot be settled must not hold up those behind it.
        const { trace_id } = call.trace
        call.log.error('intelligence.relay.unsettled', { trace_id, of: of.name, id: doc.id, error: String(error) })
      })
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}
