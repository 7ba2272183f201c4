// Reports a failed run to the role that raises signals, once: a mark of the run, or the document of its report, is there until the answer.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { hasSiteRole } from '../../../shared/routing/role-urls.ts'
import { isReportRefused, reportCause, type SiteCause } from '../../../shared/signal-cause/report-cause.ts'
import { failureSignalTotal } from '../metrics.ts'
import { faultPointPart } from '../parts.ts'
import { dagRuns, type StoredDagRun } from '../runner/model.ts'
import { causeOfFailedRun, causeOfReport } from './failure-cause.ts'
import { failureReports, type StoredFailureReport } from './model.ts'

type FailureSignal = 'raised' | 'off' | 'refused' | 'no_role'

/** A repetition after a crash finds the signal of the first. Throws what a retry may cure; the mark stays then. */
export async function signalFailure(call: Call, doc: Doc<StoredDagRun>): Promise<void> {
  const outcome = await report(call, doc.id, causeOfFailedRun(doc, call.nowIso()))
  call.part(faultPointPart)('ingest-failure-reported')
  await orGone(clearMark(call, doc))
  call.count(failureSignalTotal, { outcome })
}

/** The same for a run of another scheduler. */
export async function signalReport(call: Call, doc: Doc<StoredFailureReport>): Promise<void> {
  const outcome = await report(call, doc.id, causeOfReport(doc, call.nowIso()))
  await orGone(call.store(failureReports).remove(doc.id))
  call.count(failureSignalTotal, { outcome })
}

/** A mark never waits for a role that the profile does not run, or for an answer that would be the same: a line of the log says so. */
async function report(call: Call, run: string, cause: SiteCause): Promise<FailureSignal> {
  const fields = { trace_id: call.trace.trace_id, run, dag_id: cause.subject.name }
  if (!hasSiteRole(call, 'intelligence')) {
    call.log.warn('ingest.run.unsignalled', { ...fields, reason: 'the profile has no role intelligence' })
    return 'no_role'
  }
  const answer = await reportCause(call, cause)
  if (!isRefusal(answer)) return answer.raised ? 'raised' : 'off'
  if (!isReportRefused(answer)) throw answer
  call.log.error('ingest.run.unsignalled', { ...fields, code: answer.code, reason: answer.message })
  return 'refused'
}

/** Another run may have begun under the id meanwhile. */
async function clearMark(call: Call, { id, value: reported }: Doc<StoredDagRun>): Promise<void> {
  await call.store(dagRuns).update(id, ({ value }) => {
    const { unsignalled, ...next } = value
    if (unsignalled === undefined || value.created_at !== reported.created_at) return { answer: undefined }
    return { next, answer: undefined }
  })
}

/** A run may be deleted, and its report be sent by another process, meanwhile. */
async function orGone(change: Promise<void>): Promise<void> {
  await change.catch((error: unknown) => {
    if (!isRefusal(error) || error.code !== 'not_found') throw error
  })
}
