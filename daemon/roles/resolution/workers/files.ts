// Ends runs that wait for nobody, and drops what runs and exchanges that are over left behind, or what none knows of.
import type { Call } from '../../../kernel/call.ts'
import type { Worker } from '../../../kernel/role.ts'
import { exchangePieces, exchanges, isOver } from '../exchange/model.ts'
import { dropPieces } from '../exchange/pieces.ts'
import { changeRun } from '../fusion-run/change.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { expired, waiting_states } from '../fusion-run/rules.ts'
import { runWork } from '../parts.ts'
import { settings } from '../settings.ts'

export const files: Worker = { name: 'files', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
  await endWaiting(call)
  await dropFiles(call)
  await dropPiecesOfNone(call)
}

async function dropFiles(call: Call): Promise<void> {
  const work = call.part(runWork)
  for (const id of await work.kept()) {
    if (call.signal.aborted) return
    const doc = await call.store(fusionRuns).find(id)
    const until = doc ? doc.value.files_until_ts : 0
    if (until === undefined || until > call.now()) continue
    await work.drop(id)
    call.log.info('resolution.run.files-dropped', { trace_id: call.trace.trace_id, run: id })
  }
}

/** A piece that came while its exchange ended may have been kept after the others were dropped. An exchange is there before its pieces. */
async function dropPiecesOfNone(call: Call): Promise<void> {
  for (const id of (await call.store(exchangePieces).countBy('exchange_id')).keys()) {
    if (call.signal.aborted) return
    const doc = await call.store(exchanges).find(String(id))
    if (doc && !isOver(doc.value)) continue
    await dropPieces(call, String(id))
    call.log.info('resolution.exchange.pieces-dropped', { trace_id: call.trace.trace_id, exchange: String(id) })
  }
}

/** Of every tenant, the oldest first. */
async function endWaiting(call: Call): Promise<void> {
  const { wait_days } = call.settings(settings)
  const filter = { state: { in: waiting_states }, owes: 0, exchange_id: { exists: false } }
  const order = { field: 'created_at', direction: 'asc' } as const
  let cursor: string | undefined
  do {
    const from = cursor === undefined ? {} : { cursor }
    const page = await call.store(fusionRuns).list({ filter, order, limit: 100, ...from })
    for (const { id } of page.docs) {
      if (call.signal.aborted) return
      await changeRun(call, id, 'resolution.fusion-run.expire', (now) =>
        expired(now, wait_days, call.nowIso(), call.now()),
      )
    }
    cursor = page.next_cursor
  } while (cursor !== undefined)
}
