// Notices ticks of a scheduler that has the clock, and lets the schedules go on that are due then: nothing else triggers them.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { isJobIdle, wakeJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { type ScheduleTicks, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { pipelineSchedules } from '../datapipeline-schedule/model.ts'
import { permitTime } from '../datapipeline-schedule/rules.ts'
import { faultPointPart } from '../parts.ts'
import { newest_tick, type StoredScheduleTick, scheduleTicks } from '../schedule-tick/model.ts'
import { noticeTick } from '../schedule-tick/rules.ts'

export const scheduleTicksWorker: Worker = { name: 'schedule-ticks', when: { every_ms: 3_000 }, run }

async function run(call: Call): Promise<void> {
  const { ticks } = call.part(workflowSchedulerPart)
  if (!ticks) return await wakeWaiting(call)
  const newest = await notice(call, ticks)
  ticks.find(newest?.noticed_ts)
  // After the clock of the site was put back, the next tick is the first.
  if (newest && newest.noticed_ts <= call.now()) await permitDueTimes(call, newest)
}

/** The newest tick; the one before where there is no other, or none can be read. */
async function notice(call: Call, ticks: ScheduleTicks): Promise<StoredScheduleTick | undefined> {
  const store = call.store(scheduleTicks)
  const former = (await store.find(newest_tick))?.value
  const at = await ticks.look().catch((error: unknown) => {
    if (isRefusal(error)) return undefined
    throw error
  })
  const next = at === undefined ? undefined : noticeTick(former, call.site.tenant_id, at, call.now())
  if (!next) return former
  const created = former ? 'exists' : await store.create(newest_tick, next)
  if (created !== 'exists') return next
  const { doc } = await store.update(newest_tick, ({ value }) => {
    const tick = noticeTick(value, call.site.tenant_id, next.at, call.now())
    return tick ? { next: tick, answer: undefined } : { answer: undefined }
  })
  return doc.value
}

/** Also after a crash: what the newest tick has not reached yet is found by its time. */
async function permitDueTimes(call: Call, { until_ts }: StoredScheduleTick): Promise<void> {
  const store = call.store(pipelineSchedules)
  const due = { filter: { schedule: { exists: true }, next_ts: { lte: until_ts } }, fresh: true, page_size: 100 }
  for await (const { id } of iterateDocuments(store, due)) {
    if (call.signal.aborted) return
    const { doc, answer: isPermitted } = await store.update(id, ({ value }) => {
      const next = permitTime(value, until_ts, call.now())
      return next ? { next, answer: true } : { answer: false }
    })
    if (!isPermitted) continue
    call.part(faultPointPart)('ingest-schedule-ticked')
    announceJob(call, pipelineSchedules, doc)
  }
}

/** Under a scheduler without ticks: what is due, and waited for one under the scheduler before. Nothing else wakes it. */
async function wakeWaiting(call: Call): Promise<void> {
  const store = call.store(pipelineSchedules)
  const filter = { schedule: { exists: true }, next_ts: { lte: call.now() }, job_due_ts: { exists: false } }
  for await (const { id } of iterateDocuments(store, { filter, fresh: true, page_size: 100 })) {
    if (call.signal.aborted) return
    const { doc } = await store.update(id, ({ value }) => {
      return isJobIdle(value) ? { next: wakeJob(value, call.now()), answer: undefined } : { answer: undefined }
    })
    announceJob(call, pipelineSchedules, doc)
  }
}
