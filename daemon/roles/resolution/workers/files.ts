// Drops the files of runs that have ended, and those that no run knows of: a request that was cut short left them.
import type { Call } from '../../../kernel/call.ts'
import type { Worker } from '../../../kernel/role.ts'
import { fusionRuns } from '../fusion-run/model.ts'
import { runWork } from '../parts.ts'

export const files: Worker = { name: 'files', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
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
