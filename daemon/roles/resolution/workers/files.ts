// Expires waiting runs and exchanges, and removes files of ended runs and pieces of ended or unknown exchanges.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { exchangePieces, exchanges, isOver } from '../exchange/model.ts'
import { dropPieces } from '../exchange/piece/piece-sets.ts'
import { endStaleExchanges } from '../exchange/progress/end-stale-exchanges.ts'
import { changeRun } from '../fusion-run/change-run.ts'
import { fusionRuns, waiting_states } from '../fusion-run/model.ts'
import { expireRun, open_states, settleEarlierRun } from '../fusion-run/rules.ts'
import { isLookupOnly } from '../matching.ts'
import { runWork } from '../parts.ts'
import { settings } from '../settings.ts'
import { eraseFromStore, releaseRunFiles } from '../withdrawal/erase-files.ts'

export const filesWorker: Worker = { name: 'files', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
  await settleEarlierRuns(call)
  await expireIdleRuns(call)
  if (!isLookupOnly(call)) await endStaleExchanges(call)
  const forgotten = await releaseRunFiles(call)
  await dropExpiredFiles(call)
  await eraseFromStore(call, forgotten)
  await dropOrphanedPieces(call)
}

async function dropExpiredFiles(call: Call): Promise<void> {
  const work = call.part(runWork)
  for (const id of await work.listStoredRuns()) {
    if (call.signal.aborted) return
    const doc = await call.store(fusionRuns).find(id)
    const until = doc ? doc.value.files_until_ts : 0
    if (until === undefined || until > call.now()) continue
    await work.drop(id)
    call.log.info('resolution.run.files_dropped', { trace_id: call.trace.trace_id, run: id })
  }
}

/**
 * Removes pieces without an open exchange: a piece that arrived while its exchange ended may be stored after the others
 * were removed. An exchange is always stored before its pieces.
 */
async function dropOrphanedPieces(call: Call): Promise<void> {
  for (const id of (await call.store(exchangePieces).countBy('exchange_id')).keys()) {
    if (call.signal.aborted) return
    const doc = await call.store(exchanges).find(String(id))
    if (doc && !isOver(doc.value)) continue
    await dropPieces(call, String(id))
    call.log.info('resolution.exchange.pieces_dropped', { trace_id: call.trace.trace_id, exchange: String(id) })
  }
}

/** Settles runs that an earlier version left open. */
async function settleEarlierRuns(call: Call): Promise<void> {
  const open = { filter: { state: { in: open_states } }, page_size: 100 }
  for await (const { id, value } of iterateDocuments(call.store(fusionRuns), open)) {
    if (call.signal.aborted) return
    if (settleEarlierRun(value, call.nowIso(), call.now()) === value) continue
    await changeRun(call, id, 'resolution.fusion-run.settled', (_run, stored) =>
      settleEarlierRun(stored, call.nowIso(), call.now()),
    )
  }
}

/** Expires runs of every tenant, oldest first. */
async function expireIdleRuns(call: Call): Promise<void> {
  const { wait_days } = call.settings(settings)
  const filter = { state: { in: waiting_states }, job_due_ts: { exists: false }, exchange_id: { exists: false } }
  const order = { field: 'created_at', direction: 'asc' } as const
  for await (const { id } of iterateDocuments(call.store(fusionRuns), { filter, order, page_size: 100 })) {
    if (call.signal.aborted) return
    await changeRun(call, id, 'resolution.fusion-run.expire', (current) =>
      expireRun(current, wait_days, call.nowIso(), call.now()),
    )
  }
}
