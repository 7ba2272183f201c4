// A deployment as a job: checks the content of an object, makes its DAG live, and triggers a first run.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import type { Refusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { completeStep, endJob, releaseJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Collection, Doc } from '../../../kernel/store/store.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { faultPointPart } from '../parts.ts'
import { findRequestFault } from '../requested-task/requested-task.ts'
import { attemptFirstRun, firstAttempt } from './auto-start.ts'
import { type AutoStart, asManaged, type DeploymentFault, type ManagedDag } from './model.ts'

const minute_ms = 60_000

/** `status`: what the first fault leaves the object as. */
export type ContentReading =
  | { readonly dag: AssembledDag }
  | { readonly python: string }
  | { readonly fault: DeploymentFault; readonly status: 'rejected' | 'error' }

type DeploymentDeclaration<T extends ManagedDag> = {
  readonly name: string
  readonly collection: Collection<T>
  readonly read: (value: T) => ContentReading
  /** Claims what the DAG needs alone, before it is live; its refusal rejects the content. */
  readonly claim?: (call: Call, doc: Doc<ManagedDag>, dag: AssembledDag) => Promise<Refusal | undefined>
  /** Frees what the DAG before needed alone, once this one is live. */
  readonly release?: (call: Call, doc: Doc<ManagedDag>, dag: AssembledDag) => Promise<void>
}

export function deploymentJobOf<T extends ManagedDag>(declaration: DeploymentDeclaration<T>) {
  const { name, collection, read } = declaration
  const managed = asManaged(collection)
  return jobKind<ManagedDag>({
    name,
    collection: managed,
    allow: 'ingest:write',
    allowOf: ({ deployed_by }) => deployed_by ?? 'ingest:write',
    limits: () => ({ at_once: 4, at_once_per_tenant: 2 }),
    stepLimit_ms: () => 5 * minute_ms,
    waits: { first_ms: 1_000, longest_ms: minute_ms },
    step: (call, doc) =>
      doc.value.auto_start
        ? startFirstRun(call, managed, doc, doc.value.auto_start)
        : deploy(call, managed, doc, read(doc.value as T), declaration),
    fail: (value, { failure, at }) => endWithFault(value, 'error', { reason: failure.reason }, at),
  })
}

function endWithFault(value: ManagedDag, status: 'rejected' | 'error', fault: DeploymentFault, at: string) {
  return endJob(value, 'failed', { status, fault, auto_start: undefined, updated_at: at })
}

/** A content that is refused leaves the DAG before it live. */
async function deploy(
  call: JobCall,
  collection: Collection<ManagedDag>,
  doc: Doc<ManagedDag>,
  reading: ContentReading,
  { claim, release }: Pick<DeploymentDeclaration<never>, 'claim' | 'release'>,
): Promise<undefined> {
  const { id, value } = doc
  const at = call.nowIso()
  const change = changeOf(call, collection, id)
  if ('fault' in reading) {
    await change((stored) => endWithFault(stored, reading.status, reading.fault, at))
    return undefined
  }
  const content = 'python' in reading ? reading : reading.dag
  // No task of Python names a connection of the site.
  const dag: AssembledDag = 'python' in content ? { format: 1, dag_id: value.dag_id, tasks: [] } : content
  const refused = findRequestFault(call, dag) ?? (await claim?.(call, doc, dag))?.message
  if (refused !== undefined) {
    await change((stored) => endWithFault(stored, 'rejected', { reason: refused }, at))
    return undefined
  }
  const pass = call.part(faultPointPart)
  pass('ingest-deploy-claimed')
  const live = { dag: 'python' in content ? undefined : content, dag_digest: canonicalDigest(content) }
  await change((stored) => ({ ...stored, ...live }))
  pass('ingest-deploy-live')
  const unknown = await call
    .part(workflowSchedulerPart)
    .actFor(call)
    .putDag({ dag_id: value.dag_id, pipeline: id }, content)
  if (unknown) {
    await change((stored) => endWithFault(stored, 'error', { reason: unknown.message }, at))
    return undefined
  }
  await release?.(call, doc, dag)
  if (!value.run_on_deploy) {
    await change((stored) => endJob(stored, 'completed', { status: 'active', updated_at: at }))
    return undefined
  }
  return await startFirstRun(call, collection, doc, firstAttempt)
}

/** The object is active meanwhile: its content was accepted. */
async function startFirstRun(
  call: JobCall,
  collection: Collection<ManagedDag>,
  doc: Doc<ManagedDag>,
  attempt: AutoStart,
): Promise<undefined> {
  const pass = call.part(faultPointPart)
  const outcome = await attemptFirstRun(call, doc, attempt)
  if (outcome === 'started') pass('ingest-deploy-triggered')
  const at = call.nowIso()
  const change = changeOf(call, collection, doc.id)
  await change((stored) => {
    if (outcome === 'started')
      return endJob(stored, 'completed', { status: 'active', auto_start: undefined, updated_at: at })
    if ('fault' in outcome) return endWithFault(stored, 'error', { reason: outcome.fault }, at)
    const waiting = { ...stored, status: 'active' as const, auto_start: outcome.wait, updated_at: at }
    return releaseJob(completeStep(waiting), call.now() + outcome.wait_ms)
  })
  if (outcome === 'started') pass('ingest-deploy-ended')
  return undefined
}

function changeOf(call: JobCall, collection: Collection<ManagedDag>, id: string) {
  return async (rule: (value: ManagedDag) => ManagedDag) =>
    await call.store(collection).update(id, (stored) => ({ next: rule(stored.value), answer: undefined }))
}
