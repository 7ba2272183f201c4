// The input and the result of `platform ingest step`: one task of a DAG, as a scheduler on workers hands it over.
import * as z from 'zod'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import { siteName } from '../../kernel/messaging/statement.ts'
import {
  checkConfig,
  checkSecret,
  connectionTypeName,
  findConnectionType,
} from '../../roles/ingest/connection/type/catalog.ts'
import { type LandedSummary, landedSummary } from '../../roles/ingest/dataset/model.ts'
import { findOperator, operators } from '../../roles/ingest/operator/catalog.ts'
import { siteTaskRequest } from '../../roles/ingest/partial-run/model.ts'
import type { OpenConnection } from '../../roles/ingest/parts.ts'
import { type DagTask, dagTask, max_tasks } from '../../shared/assembled-dag/assembled-dag.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** `connection` has the secret: the document comes by stdin or a private file, never by an argument. */
const stepDocument = z.strictObject({
  format: z.literal(1),
  tenant_id: z.string().min(1).max(256),
  /** The pipeline or effect whose run it is. */
  pipeline: z.string().min(1).max(256),
  /** The same for each task and try of a run, and for no other run. */
  run: z.string().min(1).max(512),
  task: dagTask,
  /** For a task that the site performs: which one, and by what its scheduler knows the try. */
  site: z
    .strictObject({
      name: siteName,
      ...siteTaskRequest.pick({ dag_run_id: true, dag_digest: true, attempt: true }).shape,
    })
    .optional(),
  inputs: z.array(landedSummary.strip()).max(max_tasks).default([]),
  connection: z
    .strictObject({
      conn_type: connectionTypeName,
      config: z.record(z.string(), z.json()),
      secret: z.string().optional(),
    })
    .optional(),
})

export type StepSite = NonNullable<z.output<typeof stepDocument>['site']>

export type Step = {
  readonly tenant_id: string
  readonly pipeline: string
  readonly run: string
  readonly task: DagTask
  readonly site?: StepSite
  readonly inputs: readonly LandedSummary[]
  readonly connection?: OpenConnection
}

const next_step = 'the format is in docs/operators.md'

/** Throws `OfflineCommandError` (2) with the field, and never a value: one may be secret. */
export function parseStep(text: string): Step {
  const value = parseJson(text)
  if (value === undefined) throw new OfflineCommandError(2, 'the step is not a JSON document', next_step)
  const parsed = parseWithSchema(stepDocument, value)
  if (!parsed.success) throw describeFault(parsed.errors[0], '')
  const { format: _format, connection, site, ...others } = parsed.data
  const step = site ? { ...others, site } : others
  checkTask(step)
  return connection ? { ...step, connection: checkConnection(step.tenant_id, connection) } : step
}

function checkTask({ task, inputs, site }: Step): void {
  const found = findOperator(task.operator)
  if (!found) {
    const known = operators.map(({ name }) => name).join(', ')
    throw new OfflineCommandError(
      2,
      `the step cannot be performed: this version has no operator ${task.operator}`,
      `install the release of the site on this worker; it has ${known}`,
    )
  }
  if (found.requests !== undefined && !site)
    throw new OfflineCommandError(
      2,
      `the step cannot be performed: ${found.name} requests the role ${found.requests} of the site, which no worker reaches`,
      'deploy the pipeline at the site, which performs the task for the worker',
    )
  const parsed = parseWithSchema(found.params, task.params)
  if (!parsed.success) throw describeFault(parsed.errors[0], 'task.params')
  const { min, max } = found.inputs
  if (inputs.length >= min && inputs.length <= max) return
  throw describeFault(
    { path: 'inputs', message: `${found.name} takes ${min} to ${max} datasets, not ${inputs.length}` },
    '',
  )
}

function checkConnection(
  tenant_id: string,
  { conn_type, config, secret }: NonNullable<z.output<typeof stepDocument>['connection']>,
): OpenConnection {
  const type = findConnectionType(conn_type)
  const checked = checkConfig(type, config)
  if (isRefusal(checked)) throw describeFault(checked.errors[0], 'connection')
  const sealed = secret === undefined ? undefined : checkSecret(type, secret)
  if (isRefusal(sealed)) throw describeFault(sealed.errors[0], 'connection')
  return { tenant_id, conn_type, config: checked, ...(sealed === undefined ? {} : { secret: sealed }) }
}

function describeFault(fault: { readonly path: string; readonly message: string } | undefined, at: string) {
  const { path = '', message = 'is not valid' } = fault ?? {}
  const field = [at, path].filter((each) => each !== '').join('.') || 'the document'
  return new OfflineCommandError(2, `the step cannot be performed: ${field}: ${message}`, next_step)
}
