// The event of a failed run, as the role that raises signals takes it: which run and tasks, and no line of their logs.
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import type { SiteCause } from '../../../shared/signal-cause/report-cause.ts'
import { kindOfObject } from '../managed-dag/collections.ts'
import type { StoredDagRun } from './model.ts'

const shown_tasks = 10

/** Logs of tasks may quote rows, and are left out. */
export function causeOfFailedRun(id: string, run: StoredDagRun): SiteCause {
  const { tenant_id, label, pipeline, dag_id, ended_at } = run
  const noun = kindOfObject(pipeline) === 'effect' ? 'effect' : 'pipeline'
  return {
    // A run that was deleted may have had the id.
    ...{ kind: 'failed_pipeline', key: `${id}.${Date.parse(run.created_at)}`, tenant_id, label },
    subject: { type: 'asset', id: pipeline, name: dag_id },
    title: `A run of the ${noun} ${dag_id} failed`,
    description: shortenText(describeFailure(run), 4_096),
    ...(ended_at === undefined ? {} : { detected_at: ended_at }),
  }
}

function describeFailure({ dag_run_id, reason, tasks }: StoredDagRun): string {
  const failed = tasks.filter(({ state }) => state === 'failed')
  const names = failed.slice(0, shown_tasks).map(({ name, tries }) => `${name} (tries: ${tries})`)
  const rest = failed.length > shown_tasks ? ` and ${failed.length - shown_tasks} more` : ''
  const lines = [
    `Run: ${dag_run_id}.`,
    ...(reason === undefined ? [] : [`Reason: ${reason}`]),
    ...(names.length === 0 ? [] : [`Failed tasks: ${names.join(', ')}${rest}. Their logs say why.`]),
  ]
  return lines.join('\n')
}
