// Takes the tasks that workers of another scheduler hand to the site, and gives them the results.
import { announceJob } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import { isIncremental } from '../operator/incremental-task.ts'
import { isSiteTask } from '../partial-run/is-site-task.ts'
import type { StepResult } from '../partial-run/model.ts'
import { findEnd, findTry, type SiteTaskFailure, takeRequest } from '../partial-run/rules.ts'
import { type HandedTask, type SiteTaskHandover, siteTaskHandoverPart } from '../partial-run/site-task-handover.ts'
import { describeResult } from '../partial-run/step-result.ts'
import { faultPointPart } from '../parts.ts'
import { site_tasks_worker } from '../runner/announce-end.ts'
import { dagRuns, runDocumentId, type StoredDagRun } from '../runner/model.ts'
import { readTaskLog } from '../runner/task-log.ts'

export const siteTasks: Worker = { name: site_tasks_worker, when: { every_ms: 2_000 }, run }

async function run(call: Call): Promise<void> {
  const handover = call.part(siteTaskHandoverPart)
  for (const handed of await handover.list()) {
    if (call.signal.aborted) return
    await serve(call, handover, handed).catch((error: unknown) => {
      // One that fails must not hold up those after it.
      const { pipeline, dag_run_id, task } = handed.request
      const fields = { pipeline, dag_run_id, task, error: String(error) }
      call.log.error('ingest.site-task.failed', { trace_id: call.trace.trace_id, ...fields })
    })
  }
}

async function serve(call: Call, handover: SiteTaskHandover, handed: HandedTask): Promise<void> {
  const { request } = handed
  const doc = await take(call, handed)
  const end = 'is_final' in doc ? doc : findEnd(doc.value, request, handed.folder)
  if (end) await handover.answer(handed, await describe(call, handed, end, 'is_final' in doc ? undefined : doc))
}

/** Repeatable: a try that was taken changes nothing. */
async function take(
  call: Call,
  { request, folder, started }: HandedTask,
): Promise<Doc<StoredDagRun> | SiteTaskFailure> {
  const { pipeline, dag_run_id } = request
  const store = call.store(dagRuns)
  const id = runDocumentId(pipeline, dag_run_id)
  const found = await store.find(id)
  if (!found?.value.part_of)
    return {
      reason: `the site has not triggered the run ${dag_run_id}, or it was over before: trigger it by the site`,
      is_final: true,
    }
  if (findTry(found.value, request, folder)) return found
  const object = await call.store(collectionOfObject(pipeline)).find(pipeline)
  const { dag, dag_digest = '' } = object?.value ?? {}
  const terms = {
    ...{ folder, started, live: dag && { dag, dag_digest }, isSiteTask, isPassed: isIncremental },
    ...{ now_ms: call.now(), at: call.nowIso() },
  }
  const { doc, answer } = await store.update<SiteTaskFailure | undefined>(id, ({ value }) => {
    const taken = takeRequest(value, request, terms)
    if (!('job' in taken)) return { answer: taken }
    return taken === value ? { answer: undefined } : { next: taken, answer: undefined }
  })
  if (answer) return answer
  call.part(faultPointPart)('ingest-site-task-taken')
  announceJob(call, dagRuns, doc)
  return doc
}

async function describe(
  call: Call,
  { request }: HandedTask,
  end: NonNullable<ReturnType<typeof findEnd>>,
  doc: Doc<StoredDagRun> | undefined,
): Promise<StepResult> {
  const log = doc ? await readTaskLog(call, doc, request.task) : ''
  const { task } = request
  if (!('is_final' in end)) return describeResult(task, { log, made: end })
  return describeResult(task, { log: log === '' ? `${end.reason}\n` : log, failure: end })
}
