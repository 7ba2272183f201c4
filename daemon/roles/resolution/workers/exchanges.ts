// Advances exchanges, one for each peer at a time, and ends expired exchanges and exchanges whose run has ended.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { declineOrCancel } from '../exchange/cancel.ts'
import { exchangesTopic } from '../exchange/change-exchange.ts'
import { exchanges, runIdOfExchange } from '../exchange/model.ts'
import { advanceExchange, expireExchange } from '../exchange/progress/advance-exchange.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { isEnded } from '../fusion-run/rules.ts'
import { workTurnsPart } from '../parts.ts'
import { settings } from '../settings.ts'
import { runDueWork } from './run-due-work.ts'

const every_ms = 5_000
export const exchangesWorker: Worker = { name: 'exchanges', when: { every_ms }, run }

const oldestFirst = { order: { field: 'created_at', direction: 'asc' }, fresh: true, page_size: 100 } as const

/**
 * Runs one exchange for each peer at a time: long computations for a peer delay only that peer, and its exchanges use
 * its budget one after the other. A failed exchange is retried in a later run of the worker.
 */
async function run(call: Call): Promise<void> {
  const max_exchanges = call.settings(settings).exchanges_at_once
  const failed = new Map<string, number>()
  await runDueWork(call, exchangesTopic, async (busy) => {
    await endStaleExchanges(call)
    const due = await findDueExchanges(call, busy, failed, max_exchanges - busy.size)
    return due.map(({ id, peer }) => ({ key: peer, run: () => tryAdvance(call, id, failed) }))
  })
}

async function tryAdvance(call: Call, id: string, failed: Map<string, number>): Promise<void> {
  try {
    await advanceExchange(call, id)
  } catch (error) {
    if (call.signal.aborted) return
    // A failed exchange must not delay later ones.
    failed.set(id, call.monotonic())
    const { trace_id } = call.trace
    call.log.error('resolution.exchange.delayed', { trace_id, exchange: id, error: String(error) })
  }
}

async function findDueExchanges(
  call: Call,
  busy: ReadonlyMap<string, unknown>,
  failed: ReadonlyMap<string, number>,
  max_exchanges: number,
): Promise<readonly { readonly id: string; readonly peer: string }[]> {
  const dueByPeer = new Map<string, { readonly id: string; readonly peer: string; readonly tenant_id: string }>()
  if (max_exchanges <= 0) return []
  for await (const { id, value } of iterateDocuments(call.store(exchanges), { filter: { owes: 1 }, ...oldestFirst })) {
    if (call.signal.aborted) break
    const isRecent = call.monotonic() - (failed.get(id) ?? Number.NEGATIVE_INFINITY) < every_ms
    if (isRecent || busy.has(value.peer) || dueByPeer.has(value.peer)) continue
    dueByPeer.set(value.peer, { id, peer: value.peer, tenant_id: value.tenant_id })
  }
  // The peers served longest ago: the queue of one must not delay another's first.
  const ownerOf = ({ tenant_id, peer }: { readonly tenant_id: string; readonly peer: string }) => ({
    tenant_id,
    subject: peer,
  })
  return call.part(workTurnsPart).exchanges.takeSome(dueByPeer.values(), max_exchanges, ownerOf)
}

/** Ends idle exchanges that expired or whose run has ended. */
async function endStaleExchanges(call: Call): Promise<void> {
  const filter = { state: { in: ['proposed', 'running'] }, owes: 0 }
  for await (const doc of iterateDocuments(call.store(exchanges), { filter, ...oldestFirst })) {
    if (call.signal.aborted) return
    if ((await expireExchange(call, doc)) || doc.value.state !== 'running') continue
    const run = await call.store(fusionRuns).find(runIdOfExchange(doc.id))
    const isOfExchange = run?.value.exchange_id === doc.id
    if (isOfExchange && isEnded(run.value)) await declineOrCancel(call, doc.id, `its run is ${run.value.state}`)
  }
}
