// Ends runs that wait for nobody, and drops the files of those that have ended or that no run knows of: a request that was cut short left them.
import type { Call } from '../../../kernel/call.ts'
import type { Worker } from '../../../kernel/role.ts'
import { changeRun } from '../fusion-run/change.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { expired, waiting_states } from '../fusion-run/rules.ts'
import { runWork } from '../parts.ts'
import { settings } from '../settings.ts'

export const files: Worker = { name: 'files', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
  await endWaiting(call)
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
