// Takes exchanges further, of each peer one at a time, and ends those that have had their time or whose run somebody has ended.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import type { Doc, Filter } from '../../../kernel/store/store.ts'
import { declineOrCancel } from '../exchange/cancel.ts'
import { exchangesTopic } from '../exchange/change-exchange.ts'
import { exchanges, runIdOfExchange, type StoredExchange } from '../exchange/model.ts'
import { advanceExchange, expireExchange } from '../exchange/progress/advance-exchange.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { isEnded } from '../fusion-run/rules.ts'
import { settings } from '../settings.ts'

const every_ms = 5_000
export const exchangesWorker: Worker = { name: 'exchanges', when: { every_ms }, run }

const poll_interval_ms = 1_000

/**
 * Of each peer one at a time: what a peer has computed here for hours holds up nobody but itself, and its budget is asked for in
 * turn. Ends when nothing is left to do but what failed just now, which comes again with the next time.
 */
async function run(call: Call): Promise<void> {
  const most = call.settings(settings).exchanges_at_once
  const busy = new Map<string, Promise<void>>()
  const failed = new Map<string, number>()
  for await (const _ of call.changes(exchangesTopic, call.signal, poll_interval_ms)) {
    await endStaleExchanges(call)
    for (const { id, peer } of await findDueExchanges(call, busy, failed, most - busy.size)) {
      const work = tryAdvance(call, id, failed).finally(() => {
        busy.delete(peer)
        call.announce(exchangesTopic)
      })
      busy.set(peer, work)
    }
    if (busy.size === 0) break
  }
  await Promise.all(busy.values())
}

async function tryAdvance(call: Call, id: string, failed: Map<string, number>): Promise<void> {
  try {
    await advanceExchange(call, id)
  } catch (error) {
    if (call.signal.aborted) return
    // One exchange that cannot go on must not hold up those behind it.
    failed.set(id, call.monotonic())
    const { trace_id } = call.trace
    call.log.error('resolution.exchange.held-up', { trace_id, exchange: id, error: String(error) })
  }
}

async function findDueExchanges(
  call: Call,
  busy: ReadonlyMap<string, unknown>,
  failed: ReadonlyMap<string, number>,
  most: number,
): Promise<readonly { readonly id: string; readonly peer: string }[]> {
  const found = new Map<string, string>()
  if (most <= 0) return []
  for await (const { id, value } of iterateExchanges(call, { owes: 1 })) {
    const isRecent = call.monotonic() - (failed.get(id) ?? Number.NEGATIVE_INFINITY) < every_ms
    if (isRecent || busy.has(value.peer) || found.has(value.peer)) continue
    found.set(value.peer, id)
    if (found.size === most) break
  }
  return Array.from(found, ([peer, id]) => ({ id, peer }))
}

/** Those that nothing is done for. */
async function endStaleExchanges(call: Call): Promise<void> {
  for await (const doc of iterateExchanges(call, { state: { in: ['proposed', 'running'] }, owes: 0 })) {
    if ((await expireExchange(call, doc)) || doc.value.state !== 'running') continue
    const found = await call.store(fusionRuns).find(runIdOfExchange(doc.id))
    const isOf = found?.value.exchange_id === doc.id
    if (isOf && isEnded(found.value)) await declineOrCancel(call, doc.id, `its run is ${found.value.state}`)
  }
}

async function* iterateExchanges(call: Call, filter: Filter): AsyncGenerator<Doc<StoredExchange>> {
  let cursor: string | undefined
  const order = { field: 'created_at', direction: 'asc' } as const
  do {
    const page = await call
      .store(exchanges)
      .list({ filter, order, limit: 100, fresh: true, ...(cursor ? { cursor } : {}) })
    for (const doc of page.docs) {
      if (call.signal.aborted) return
      yield doc
    }
    cursor = page.next_cursor
  } while (cursor)
}
