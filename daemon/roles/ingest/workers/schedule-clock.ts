// Plans schedules anew whose next time was chosen by a clock that was ahead: it would not come for as long as that.
import { announceJob } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { pipelineSchedules } from '../datapipeline-schedule/model.ts'
import { planOf } from '../datapipeline-schedule/plan-schedule.ts'
import { replanBehind } from '../datapipeline-schedule/rules.ts'

export const scheduleClock: Worker = { name: 'schedule-clock', when: { every_ms: 60_000 }, run }

async function run(call: Call): Promise<void> {
  const store = call.store(pipelineSchedules)
  const filter = { until_ts: { gt: call.now() } }
  for await (const { id } of iterateDocuments(store, { filter, fresh: true })) {
    if (call.signal.aborted) return
    const { doc, answer: next_ts } = await store.update(id, ({ value }) => {
      if (value.schedule === undefined) return { answer: undefined }
      const next = replanBehind(value, planOf(call, value), { now_ms: call.now(), at: call.nowIso() })
      return next ? { next, answer: next.next_ts } : { answer: undefined }
    })
    if (next_ts === undefined) continue
    announceJob(call, pipelineSchedules, doc)
    call.log.warn('ingest.schedule.replanned', { pipeline: id, next_scheduled_run: new Date(next_ts).toISOString() })
  }
}
