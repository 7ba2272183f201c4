// The model of a data pipeline: the DAG that it manages, and its newest deployment, which is a job.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { delayFields } from '../../../kernel/job/job-delay.ts'
import { job_indexes, jobFields } from '../../../kernel/job/job-fields.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { collection } from '../../../kernel/store/store.ts'
import { assembledDag, dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { count, instant, provenanceFields, provenanceViewFields, shortText, uid } from '../fields.ts'

/** `rejected`: the check refused the content; `error`: it could not be deployed. Both end by another deployment or deletion. */
const pipelineStatus = z.enum(['pending_validation', 'active', 'rejected', 'error', 'paused', 'running'])

/** Characters of the content of a DAG. */
const max_content = 262_144

const deploymentFault = z.strictObject({
  reason: z.string().max(4_096),
  path: z.string().optional().meta({ description: 'Field of the assembled DAG' }),
})

export const pipelineInputFields = {
  dag_id: dagId,
  content: requiredText(max_content).meta({ description: 'An assembled DAG as JSON text' }),
  pipeline_type: shortText.default('assembled').meta({ description: 'Template that the DAG follows' }),
  run_on_deploy: z.boolean().default(false).meta({ description: 'Trigger a run once the DAG is live' }),
}

const pipelineFields = {
  ...pipelineInputFields,
  description: z.string().max(4_096).optional(),
}

const storedPipeline = z.strictObject({
  ...provenanceFields,
  ...pipelineFields,
  ...jobFields,
  subtype: z.literal('datapipeline'),
  request_digest: z.string(),
  /** The idempotency key of the request that made it, as an id. */
  request_key: z.string(),
  status: pipelineStatus.extract(['pending_validation', 'active', 'rejected', 'error']),
  is_paused: z.boolean(),
  /** The live DAG; stays while a later content is checked. */
  dag: assembledDag.optional(),
  dag_digest: z.string(),
  fault: deploymentFault.optional(),
  /** Number of deployments: the id of the run that one triggers. */
  deployments: count,
})
export type StoredPipeline = z.infer<typeof storedPipeline>

/** The id of the pipeline that has a DAG of this name first; see `holdName`. */
export function pipelineId(tenant_id: string, dag_id: string): string {
  return `pl_${canonicalDigest([tenant_id, dag_id]).slice(0, 32)}`
}

export const pipelines = collection({
  name: 'datapipeline',
  schema: storedPipeline,
  indexes: ['subtype', 'dag_id', 'status', ...job_indexes],
  documented: { alias: 'data-ingest', fields: { uid: 'id', subtype: 'subtype', dag_id: 'dag_id', status: 'status' } },
})

/** The pipeline as the interface shows it. */
export const pipelineView = z
  .strictObject({
    uid,
    version: z.int().min(1),
    subtype: z.literal('datapipeline'),
    ...provenanceViewFields,
    ...pipelineFields,
    status: pipelineStatus,
    fault: deploymentFault.optional().meta({ description: 'Why the newest content is not live' }),
    last_run: workflowRun.optional().meta({ description: 'Newest run; read from the scheduler' }),
    workflow_next_run: instant
      .nullable()
      .optional()
      .meta({ description: 'Next run by the interval of the DAG itself; read from the scheduler' }),
    ...delayFields,
  })
  .meta({ id: 'DataPipeline' })
export type PipelineView = z.infer<typeof pipelineView>
