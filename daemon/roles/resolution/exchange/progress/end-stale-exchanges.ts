// Ends open exchanges that wait for an event which may not come: expired ones, and those whose run has ended.
import { isJobOver, wakeJob } from '../../../../kernel/job/rules.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../../kernel/store/iterate-documents.ts'
import { declineOrCancel } from '../cancel.ts'
import { changeExchange } from '../change-exchange.ts'
import { adoptEarlierExchange, exchanges, isOver, type StoredExchange } from '../model.ts'
import { expireExchange } from './advance-exchange.ts'
import { failExchange } from './end-early.ts'
import { findEarlyEnd } from './run-while-active.ts'

const oldestFirst = { order: { field: 'created_at', direction: 'asc' }, fresh: true, page_size: 100 } as const

export async function endStaleExchanges(call: Call): Promise<void> {
  await settleEarlierExchanges(call)
  const filter = { state: { in: ['proposed', 'running'] }, job_due_ts: { exists: false } }
  for await (const doc of iterateDocuments(call.store(exchanges), { filter, ...oldestFirst })) {
    if (call.signal.aborted) return
    if (isJobOver(adoptEarlierExchange(doc.value) as StoredExchange)) {
      await settleEarlierExchange(call, doc.id)
      continue
    }
    if (await expireExchange(call, doc)) continue
    const state = await findEarlyEnd(call, doc.id)
    if (state) await declineOrCancel(call, doc.id, `its run is ${state}`)
  }
}

/** Lets exchanges go on for which a version without jobs had marked work as pending. */
async function settleEarlierExchanges(call: Call): Promise<void> {
  for await (const { id } of iterateDocuments(call.store(exchanges), { filter: { owes: 1 }, ...oldestFirst })) {
    if (call.signal.aborted) return
    await settleEarlierExchange(call, id)
  }
}

/** Ends an exchange that an earlier version began for a person; lets any other go on. */
async function settleEarlierExchange(call: Call, id: string): Promise<void> {
  await changeExchange(call, id, 'resolution.exchange.settled', (current) => {
    const { failure } = current.job
    if (failure && !isOver(current)) return failExchange(current, failure, call.nowIso())
    return wakeJob(current, call.now())
  })
}
