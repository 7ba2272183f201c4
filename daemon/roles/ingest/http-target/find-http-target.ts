// The service of the profile to which a task sends requests: who may send there, and under which label.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { permits } from '../../../kernel/identity/identity.ts'
import { completeLabel, isCoveredBy, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { refuseHttpSources } from '../http-source/find-http-source.ts'
import { settings } from '../settings.ts'
import { sendingOperators, type TaskTarget } from './model.ts'

const targetParams = z.looseObject({ target: z.string() })

/** The owner of a task: the pipeline or its run. */
type TaskOwner = { readonly tenant_id: string; readonly label: Label }

/** Undefined for a task that sends nothing. */
export function findHttpTarget(
  call: Call,
  { operator, params }: Pick<DagTask, 'operator' | 'params'>,
  of: TaskOwner,
): TaskTarget | Refusal | undefined {
  if (!(sendingOperators as readonly string[]).includes(operator)) return undefined
  if (operator === 'external_dispatch' && !maySend(call))
    return refuse('forbidden', `${operator} needs the permission ingest:send or ingest:dispatch of its principal`)
  const { target: name } = targetParams.parse(params)
  const { site } = call
  const found = call
    .settings(settings)
    .http_targets.find(
      (each) => each.name === name && each.operator === operator && (each.tenant_id ?? site.tenant_id) === of.tenant_id,
    )
  // That of another tenant does not exist for this one.
  if (!found)
    return refuse(
      'not_found',
      `the profile has no target ${name} for ${operator} in ingest.http_targets for this tenant`,
    )
  const label = completeLabel(found.classification ?? site.default_level, site.labels, of.tenant_id)
  if (!label || !isCoveredBy(of.label, label, site.labels))
    return refuse('label_denied', `the label of the pipeline is higher than what the target ${name} may be sent`)
  const is_answer_kept = isCoveredBy(label, of.label, site.labels)
  // Without its answer a request tests nothing.
  if (operator === 'test_call' && !is_answer_kept)
    return refuse('label_denied', `the target ${name} has a higher label than the pipeline`)
  return { ...found, is_answer_kept }
}

/** Who runs pipelines may not thereby hand data to others; a service that dispatches effects may. */
function maySend({ caller }: Call): boolean {
  return permits(caller.permissions, 'ingest:send') || permits(caller.permissions, 'ingest:dispatch')
}

/** Refuses a DAG with a task that could not download or send, before it is live. */
export function refuseHttpPlaces(call: Call, tasks: readonly DagTask[], of: TaskOwner): Refusal | undefined {
  const refused = refuseHttpSources(call, tasks, of)
  if (refused) return refused
  for (const task of tasks) {
    const found = findHttpTarget(call, task, of)
    if (isRefusal(found)) return found
  }
  return undefined
}
