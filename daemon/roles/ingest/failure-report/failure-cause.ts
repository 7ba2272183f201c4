// The event of a failed run, as the role that raises signals takes it: which run and tasks, and no line of their logs.
import type { Doc } from '../../../kernel/store/store.ts'
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import type { SiteCause } from '../../../shared/signal-cause/report-cause.ts'
import { kindOfObject } from '../managed-dag/collections.ts'
import type { RunTask, StoredDagRun } from '../runner/model.ts'
import type { StoredFailureReport } from './model.ts'

const shown_tasks = 10

/** Logs of tasks may quote rows, and are left out. */
export function causeOfFailedRun({ id, value }: Doc<StoredDagRun>, now: string): SiteCause {
  return {
    ...describeRun(value),
    // A run that was deleted may have had the id.
    key: `${id}.${Date.parse(value.created_at)}`,
    description: describeFailure(value.dag_run_id, value.reason, listFailed(value)),
    detected_at: untilNow(value.ended_at ?? value.updated_at, now),
  }
}

export function causeOfReport({ id, value }: Doc<StoredFailureReport>, now: string): SiteCause {
  const detected_at = untilNow(value.created_at, now)
  const { dag_run_id, failed = [] } = value
  return { ...describeRun(value), key: id, description: describeFailure(dag_run_id, undefined, failed), detected_at }
}

/** A clock that was set back leaves times ahead of it, which no signal may have. Texts of UTC sort by time. */
function untilNow(at: string, now: string): string {
  return at < now ? at : now
}

function describeRun({ tenant_id, label, pipeline, dag_id }: StoredDagRun | StoredFailureReport) {
  const noun = kindOfObject(pipeline) === 'effect' ? 'effect' : 'pipeline'
  return {
    ...{ kind: 'failed_pipeline' as const, tenant_id, label, title: `A run of the ${noun} ${dag_id} failed` },
    subject: { type: 'asset' as const, id: pipeline, name: dag_id },
  }
}

type FailedTask = Pick<RunTask, 'name' | 'tries'>

function listFailed({ tasks }: StoredDagRun): FailedTask[] {
  return tasks.filter(({ state }) => state === 'failed')
}

function describeFailure(dag_run_id: string, reason: string | undefined, failed: readonly FailedTask[]): string {
  const names = failed.slice(0, shown_tasks).map(({ name, tries }) => `${name} (tries: ${tries})`)
  const rest = failed.length > shown_tasks ? ` and ${failed.length - shown_tasks} more` : ''
  const lines = [
    `Run: ${dag_run_id}.`,
    ...(reason === undefined ? [] : [`Reason: ${reason}`]),
    ...(names.length === 0 ? [] : [`Failed tasks: ${names.join(', ')}${rest}. Their logs say why.`]),
  ]
  return shortenText(lines.join('\n'), 4_096)
}
