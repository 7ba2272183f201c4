// Reports a failed run to the role that raises signals, once: the run bears a mark from its end until the answer.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { platformSettings } from '../../../kernel/settings/platform-settings.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { reportCause } from '../../../shared/signal-cause/report-cause.ts'
import { failureSignalTotal } from '../metrics.ts'
import { faultPointPart } from '../parts.ts'
import { causeOfFailedRun } from './failure-cause.ts'
import { dagRuns, type StoredDagRun } from './model.ts'

type SignalOutcome = 'raised' | 'off' | 'refused' | 'no_role'

/** A repetition after a crash finds the signal of the first. Throws what a retry may cure; the mark stays then. */
export async function signalFailure(call: Call, doc: Doc<StoredDagRun>): Promise<void> {
  const outcome = await report(call, doc)
  call.part(faultPointPart)('ingest-failure-reported')
  await clearMark(call, doc)
  call.count(failureSignalTotal, { outcome })
}

/** A mark never waits for a role that the profile does not run, or for an answer that would be the same: a line of the log says so. */
async function report(call: Call, { id, value }: Doc<StoredDagRun>): Promise<SignalOutcome> {
  const fields = { trace_id: call.trace.trace_id, run: id, dag_id: value.dag_id }
  if (!call.settings(platformSettings).roles.includes('intelligence')) {
    call.log.warn('ingest.run.unsignalled', { ...fields, reason: 'the profile has no role intelligence' })
    return 'no_role'
  }
  const answer = await reportCause(call, causeOfFailedRun(id, value))
  if (!isRefusal(answer)) return answer.raised ? 'raised' : 'off'
  call.log.error('ingest.run.unsignalled', { ...fields, code: answer.code, reason: answer.message })
  return 'refused'
}

/** The run may have been deleted meanwhile, and another one begun under its id. */
async function clearMark(call: Call, { id, value: reported }: Doc<StoredDagRun>): Promise<void> {
  const rule = ({ value }: Doc<StoredDagRun>) => {
    const { unsignalled, ...next } = value
    if (unsignalled === undefined || value.created_at !== reported.created_at) return { answer: undefined }
    return { next, answer: undefined }
  }
  await call
    .store(dagRuns)
    .update(id, rule)
    .catch((error: unknown) => {
      if (!isRefusal(error) || error.code !== 'not_found') throw error
    })
}
