// The deployment of a pipeline as a job: checks its content, makes the DAG live, and triggers a first run.

import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { endJob } from '../../../kernel/job/rules.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { pipelines, type StoredPipeline } from './model.ts'
import { readContent } from './read-content.ts'

const minute_ms = 60_000

export const deploymentJob = jobKind<StoredPipeline>({
  name: 'deployment',
  collection: pipelines,
  allow: 'ingest:write',
  limits: () => ({ at_once: 4, at_once_per_tenant: 2 }),
  stepLimit_ms: () => 5 * minute_ms,
  waits: { first_ms: 1_000, longest_ms: minute_ms },
  step: deploy,
  fail: (pipeline, { failure, at }) => endWithFault(pipeline, 'error', { reason: failure.reason }, at),
})

type DeploymentFault = NonNullable<StoredPipeline['fault']>

function endWithFault(pipeline: StoredPipeline, status: 'rejected' | 'error', fault: DeploymentFault, at: string) {
  return endJob(pipeline, 'failed', { status, fault, updated_at: at })
}

/** A content that is refused leaves the DAG before it live. */
async function deploy(call: JobCall, { id, value }: Doc<StoredPipeline>): Promise<undefined> {
  const reading = readContent(value.content, value.dag_id)
  const at = call.nowIso()
  if ('fault' in reading) {
    await change(call, id, (pipeline) => endWithFault(pipeline, 'rejected', reading.fault, at))
    return undefined
  }
  const { dag } = reading
  const live = { dag, dag_digest: canonicalDigest(dag) }
  if (!value.run_on_deploy) {
    await change(call, id, (pipeline) => endJob(pipeline, 'completed', { ...live, status: 'active', updated_at: at }))
    return undefined
  }
  await change(call, id, (pipeline) => ({ ...pipeline, ...live }))
  const trigger = { dag_run_id: `deploy__${value.deployments}`, conf: {} }
  const run = await call
    .part(workflowSchedulerPart)
    .actFor(call)
    .trigger({ dag_id: value.dag_id, pipeline: id }, trigger)
  if (isRefusal(run)) throw run
  await change(call, id, (pipeline) => endJob(pipeline, 'completed', { status: 'active', updated_at: at }))
  return undefined
}

async function change(call: JobCall, id: string, rule: (pipeline: StoredPipeline) => StoredPipeline): Promise<void> {
  await call.store(pipelines).update(id, ({ value }) => ({ next: rule(value), answer: undefined }))
}
