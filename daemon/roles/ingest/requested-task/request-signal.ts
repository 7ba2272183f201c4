// Performs `notify`: raises a signal in the name of the site, for a principal that may raise signals itself.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { permits } from '../../../kernel/identity/identity.ts'
import type { JobCall } from '../../../kernel/job/job.ts'
import { isReportRefused, reportCause, type SiteCause } from '../../../shared/signal-cause/report-cause.ts'
import { notify } from '../operator/notify.ts'
import type { RequestedTaskOutcome, RequestingRun } from './task-request.ts'

export async function requestSignal(call: JobCall, requesting: RequestingRun): Promise<RequestedTaskOutcome | Refusal> {
  if (!permits(call.caller.permissions, 'intelligence:write'))
    return refuse('forbidden', 'notify needs the permission intelligence:write of the person for whom the run is')
  const answer = await reportCause(call, causeOfNotice(requesting))
  if (isRefusal(answer)) {
    if (isReportRefused(answer)) return answer
    return { log: `${answer.message}\n`, failure: { reason: answer.message, isFinal: false } }
  }
  const { uid } = answer
  if (uid === undefined) return { log: 'raised no signal: the profile turns intake.notice off\n' }
  return { log: `raised the signal ${uid}\n`, requested: { role: 'intelligence', object: 'signal', uid } }
}

/** One for the run and the task, however often it is reported. */
function causeOfNotice({ id, run, task }: RequestingRun): SiteCause {
  const { tenant_id, label, pipeline, dag_id, dag_run_id, created_at } = run
  const { title, text, severity } = notify.params.parse(task.params)
  const origin = `Run ${dag_run_id} of ${dag_id}, task ${task.name}.`
  return {
    // A run that was deleted may have had the id.
    ...{ kind: 'notice', key: `${id}.${Date.parse(created_at)} ${task.name}`, tenant_id, label },
    subject: { type: 'asset', id: pipeline, name: dag_id },
    ...{ title, description: text === undefined ? origin : `${text}\n\n${origin}` },
    ...(severity === undefined ? {} : { severity }),
  }
}
