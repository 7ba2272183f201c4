// The operations by which a role serves the jobs of a kind whose documents have no operations of their own.
import * as z from 'zod'
import { isRefusal, refuse } from '../error/errors.ts'
import type { Label } from '../label/label.ts'
import type { Call } from '../operation/call.ts'
import { type AnyOperation, operation } from '../operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../operation/paging.ts'
import type { Doc } from '../store/store.ts'
import { type AnyJobKind, announceJob, type JobDocument, type JobOperations } from './job.ts'
import { jobFailure, jobState } from './job-fields.ts'
import { estimateRemaining_s, isJobOver } from './rules.ts'

const jobView = z
  .strictObject({
    id: z.string(),
    version: z.int().min(1),
    kind: z.string(),
    state: jobState,
    created_by: z.string(),
    created_at: z.iso.datetime(),
    principal: z
      .string()
      .optional()
      .meta({ description: 'Subject that the job acts for; absent for work of the site' }),
    step: z.int().min(0).meta({ description: 'Completed steps' }),
    failures: z.int().min(0).meta({ description: 'Retryable failures in a row' }),
    failure: jobFailure.optional().meta({ description: 'Reason of the newest failure' }),
    due_at: z.iso
      .datetime()
      .optional()
      .meta({ description: 'Time of the next attempt; absent while a job runs or waits for an event' }),
    progress: z
      .strictObject({ done: z.int().min(0), total: z.int().min(0), eta_s: z.int().min(0).optional() })
      .optional(),
  })
  .meta({ id: 'Job' })
const jobPage = pageSchema(jobView).meta({ id: 'JobPage' })

/** By verb; none for a kind that declares none. */
export function jobOperationsOf(kind: AnyJobKind, api_prefix: string): Readonly<Record<string, AnyOperation>> {
  const { name, collection, allow, operations } = kind
  if (!operations) return {}
  const path = `${api_prefix}/job/${name}`
  const id = z.string().min(1).max(128)
  const show = (call: Call, doc: Doc<JobDocument>) => showJob(name, doc, call.now())
  return {
    [`${name}-jobs`]: operation({
      summary: `List jobs of the kind ${name}, newest first`,
      method: 'GET',
      path,
      input: z.strictObject({ ...listFields }),
      output: jobPage,
      errors: [],
      allow: operations.read,
      async run(call, { limit, cursor }) {
        const query = buildListQuery({}, limit, cursor, { field: 'created_at', direction: 'desc' })
        const { docs, ...counted } = await call.store<JobDocument>(collection).page(query)
        return { items: docs.map((doc) => show(call, doc)), ...counted }
      },
    }),
    [`${name}-job`]: operation({
      summary: `Get a job of the kind ${name}: its state, its progress and its newest failure`,
      method: 'GET',
      path: `${path}/{id}`,
      input: z.strictObject({ id }),
      output: jobView,
      errors: ['not_found'],
      allow: operations.read,
      versioned: true,
      run: async (call, input) => show(call, await call.store<JobDocument>(collection).get(input.id)),
    }),
    [`cancel-${name}-job`]: operation({
      summary: `Cancel a job of the kind ${name}, which ends at once`,
      method: 'DELETE',
      path: `${path}/{id}`,
      input: z.strictObject({ id }),
      output: jobView,
      errors: ['not_found', 'not_your_tenant', 'wrong_state', 'precondition_failed'],
      allow,
      versioned: true,
      async run(call, input) {
        const cancelled = await cancelJob(call, kind, operations, input.id)
        return isRefusal(cancelled) ? cancelled : show(call, cancelled)
      },
    }),
  }
}

/** A job that was cancelled before stays as it is. */
async function cancelJob(call: Call, { collection }: AnyJobKind, { cancel }: JobOperations<JobDocument>, id: string) {
  const { doc, answer } = await call.store<JobDocument>(collection).update(id, ({ value }) => {
    if (value.job.state === 'cancelled') return { answer: undefined }
    if (isJobOver(value)) return { answer: refuse('wrong_state', `the job is already ${value.job.state}`) }
    const next = cancel(value, { at: call.nowIso(), now_ms: call.now() })
    const event = call.audited(call.address, id, { from: value.job.state }, value.label as Label | undefined)
    return { next, answer: undefined, audit: [{ ...event, tenant_id: value.tenant_id }] }
  })
  if (answer) return answer
  announceJob(call, collection, doc)
  return doc
}

function showJob(kind: string, { id, version, value }: Doc<JobDocument>, now_ms: number): z.output<typeof jobView> {
  const { created_by, created_at, job, job_due_ts } = value
  const { state, step, failures, failure, principal, progress } = job
  const eta_s = progress && state === 'running' ? estimateRemaining_s(progress, now_ms) : undefined
  return {
    ...{ id, version, kind, state, created_by, created_at, step, failures },
    ...(principal ? { principal: principal.subject } : {}),
    ...(failure ? { failure } : {}),
    ...(job_due_ts === undefined || state === 'running' ? {} : { due_at: new Date(job_due_ts).toISOString() }),
    ...(progress
      ? { progress: { done: progress.done, total: progress.total, ...(eta_s === undefined ? {} : { eta_s }) } }
      : {}),
  }
}
