// The source of the profile from which a task downloads: who may read it, and under which label.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { completeLabel, isCoveredBy, type Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { ingestHttp } from '../operator/ingest-http.ts'
import { settings } from '../settings.ts'
import type { HttpDataSource } from './model.ts'

const sourceParams = z.looseObject({ source: z.string() })

/** Undefined for a task that downloads nothing. `of`: the pipeline or its run; its files land under that label. */
export function findHttpSource(
  call: Call,
  { operator, params }: Pick<DagTask, 'operator' | 'params'>,
  of: { readonly tenant_id: string; readonly label: Label },
): HttpDataSource | Refusal | undefined {
  if (operator !== ingestHttp.name) return undefined
  const { source: name } = sourceParams.parse(params)
  const { site } = call
  const found = call
    .settings(settings)
    .http_sources.find((each) => each.name === name && (each.tenant_id ?? site.tenant_id) === of.tenant_id)
  // That of another tenant does not exist for this one.
  if (!found) return refuse('not_found', `the profile has no source ${name} in ingest.http_sources for this tenant`)
  const label = completeLabel(found.classification ?? site.default_level, site.labels, of.tenant_id)
  if (label && isCoveredBy(label, of.label, site.labels)) return found
  return refuse('label_denied', `the source ${name} has a higher label than the pipeline`)
}

/** Refuses a DAG with a task that could not download, before it is live. */
export function refuseHttpSources(
  call: Call,
  tasks: readonly DagTask[],
  of: { readonly tenant_id: string; readonly label: Label },
): Refusal | undefined {
  for (const task of tasks) {
    const found = findHttpSource(call, task, of)
    if (isRefusal(found)) return found
  }
  return undefined
}
