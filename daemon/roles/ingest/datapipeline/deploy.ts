// Deploys a pipeline: stores its DAG, whose check and first run follow as a job.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import { classification } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineInputFields, pipelines, pipelineView, type StoredPipeline } from './model.ts'
import { refusePython } from './read-content.ts'
import { showPipeline } from './view.ts'

const input = z.strictObject({
  ...pipelineInputFields,
  description: z.string().max(4_096).optional(),
  classification: classification.optional(),
})

export const deploy = operation({
  ...objectPaths('datapipeline'),
  summary: 'Deploy a pipeline: its DAG is checked, and then live; poll its status',
  method: 'POST',
  tool: 'datapipeline_deploy',
  input,
  output: pipelineView,
  status: 201,
  errors: ['already_exists', 'label_denied', 'needs_airflow', 'idempotency_mismatch'],
  allow: 'ingest:write',
  creates: true,
  versioned: true,

  async run(call, request) {
    const id = call.newId('pl')
    const before = call.idempotency_key === undefined ? undefined : await call.store(pipelines).find(id)
    const doc = before ? checkRepeatedRequest(call, before) : await createPipeline(call, id, request)
    return isRefusal(doc) ? doc : await showPipeline(call, doc)
  },
})

async function createPipeline(call: Call, id: string, request: z.output<typeof input>) {
  const { dag_id, content, pipeline_type, run_on_deploy, description } = request
  const refused = refusePython(content) ?? (await refuseTakenDag(call, dag_id))
  if (refused) return refused
  const label = resolveClassification(call, request.classification ?? call.site.default_level)
  if (isRefusal(label)) return label
  const principal = await call.delegation().store({ collection: pipelines.name, id })
  if (isRefusal(principal)) return principal
  const at = call.nowIso()
  const value: StoredPipeline = {
    ...{ tenant_id: call.caller.tenant_id, label, created_by: call.caller.subject, created_at: at, updated_at: at },
    ...{ request_digest: call.requestDigest(), subtype: 'datapipeline', dag_id, content, pipeline_type, run_on_deploy },
    ...(description === undefined ? {} : { description }),
    ...{ status: 'pending_validation', is_paused: false, dag_digest: '', deployments: 1 },
    ...newJob(principal, call.now()),
  }
  const stored = await call.store(pipelines).create(id, value, [call.audited(call.address, id, { dag_id }, label)])
  if (stored === 'exists') return checkRepeatedRequest(call, await call.store(pipelines).get(id))
  announceJob(call, pipelines, stored)
  return stored
}

async function refuseTakenDag(call: Call, dag_id: string): Promise<Refusal | undefined> {
  if ((await call.store(pipelines).count({ dag_id })) === 0) return undefined
  return refuse('already_exists', `a pipeline with the DAG ${dag_id} exists: update it, or choose another dag_id`)
}
