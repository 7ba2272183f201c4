// Deploys a pipeline: stores its DAG, whose check and first run follow as a job.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import { classification, type Label } from '../../../kernel/label/label.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { holdName } from '../../../shared/name-holder/hold-name.ts'
import { refuseTakenContent } from '../connection/claim-connection.ts'
import { addSchedule, removeSchedule } from '../datapipeline-schedule/change-schedule.ts'
import { scheduleInputFields } from '../datapipeline-schedule/model.ts'
import { checkSchedule } from '../datapipeline-schedule/plan-schedule.ts'
import { refuseFirstRun, storePrincipal } from '../managed-dag/deployment.ts'
import { objectPaths } from '../object-paths.ts'
import { faultPointPart } from '../parts.ts'
import { pipelineId, pipelineInputFields, pipelines, pipelineView, type StoredPipeline } from './model.ts'
import { refusePython } from './read-content.ts'
import { showPipeline } from './view.ts'

const input = z.strictObject({
  ...pipelineInputFields,
  description: z.string().max(4_096).optional(),
  ...scheduleInputFields,
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
  errors: ['already_exists', 'wrong_state', 'label_denied', 'needs_airflow', 'idempotency_mismatch'],
  allow: 'ingest:write',
  creates: true,
  versioned: true,

  async run(call, request) {
    const doc = await createPipeline(call, request)
    return isRefusal(doc) ? doc : await showPipeline(call, doc)
  },
})

/** A pipeline with the DAG that the caller may not see stays hidden: the new one has another id then. */
async function createPipeline(call: Call, request: z.output<typeof input>): Promise<Doc<StoredPipeline> | Refusal> {
  const { dag_id, content, run_on_deploy } = request
  const refused = refusePython(call, content) ?? refuseFirstRun(call, run_on_deploy) ?? checkSchedule(call, request)
  if (refused) return refused
  const taken = await refuseTakenContent(call, content, ({ value }) => value.dag_id === dag_id)
  if (taken) return taken
  const label = resolveClassification(call, request.classification ?? call.site.default_level)
  if (isRefusal(label)) return label
  const request_key = call.newId('req')
  const create = async (id: string) => {
    const principal = await storePrincipal(call, pipelines, id)
    call.part(faultPointPart)('ingest-deploy-principal')
    const value = { ...buildPipeline(call, request, label), request_key, ...newJob(principal, call.now()) }
    return await call.store(pipelines).create(id, value, [call.audited(call.address, id, { dag_id }, label)])
  }
  const id = pipelineId(call.caller.tenant_id, dag_id)
  const { doc, isNew } = await holdName(call.store(pipelines), id, label, { create, fits: () => true })
  if (isNew) {
    call.part(faultPointPart)('ingest-deploy-stored')
    announceJob(call, pipelines, doc)
    // A crash may have left the record of a pipeline that was deleted.
    await removeSchedule(call, doc.id)
    return await addSchedule(call, doc, request)
  }
  if (doc.value.request_key === request_key) {
    const repeated = checkRepeatedRequest(call, doc)
    return isRefusal(repeated) ? repeated : await addSchedule(call, repeated, request)
  }
  return refuse('already_exists', `a pipeline with the DAG ${dag_id} exists: update it, or choose another dag_id`)
}

function buildPipeline(call: Call, request: z.output<typeof input>, label: Label) {
  const { dag_id, content, pipeline_type, run_on_deploy, description } = request
  const at = call.nowIso()
  return {
    ...{ tenant_id: call.caller.tenant_id, label, created_by: call.caller.subject, created_at: at, updated_at: at },
    ...{ request_digest: call.requestDigest(), dag_id, content, pipeline_type, run_on_deploy },
    ...(description === undefined ? {} : { description }),
    ...{
      subtype: 'datapipeline' as const,
      status: 'pending_validation' as const,
      is_paused: false,
      dag_digest: '',
      deployments: 1,
    },
  }
}
