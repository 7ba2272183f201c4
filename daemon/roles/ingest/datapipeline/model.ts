// The model of a data pipeline: the DAG that it manages, and its newest deployment, which is a job.
import * as z from 'zod'
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import { delayFields } from '../../../kernel/job/job-delay.ts'
import { job_indexes } from '../../../kernel/job/job-fields.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { collection } from '../../../kernel/store/store.ts'
import { scheduleViewFields } from '../datapipeline-schedule/model.ts'
import { provenanceViewFields, uid } from '../fields.ts'
import { landingZoneView } from '../landing-zone/model.ts'
import { pipelineDagId } from '../managed-dag/dag-names.ts'
import { deploymentFault, liveFields, managedFields, managedStatus } from '../managed-dag/model.ts'
import { statisticsFields } from '../managed-dag/statistics.ts'
import { templateName } from '../template/catalog.ts'

/** Characters of the content of a DAG. */
const max_content = 262_144

export const pipelineInputFields = {
  dag_id: pipelineDagId,
  content: requiredText(max_content).meta({
    description: 'An assembled DAG as JSON text; with Airflow also a DAG file in Python',
  }),
  pipeline_type: templateName.default('assembled').meta({ description: 'Template that the DAG follows' }),
  run_on_deploy: z.boolean().default(false).meta({ description: 'Trigger a run once the DAG is live' }),
}

const pipelineFields = {
  ...pipelineInputFields,
  description: z.string().max(4_096).optional(),
}

const storedPipeline = z.strictObject({
  ...managedFields,
  ...pipelineFields,
  subtype: z.literal('datapipeline'),
  /** The idempotency key of the request that made it, as an id. */
  request_key: z.string(),
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
    status: managedStatus,
    fault: deploymentFault.optional().meta({ description: 'Why the newest content is not live' }),
    ...liveFields,
    ...scheduleViewFields,
    landing_zone: landingZoneView.optional().meta({ description: 'Of a pipeline that files of carriers start' }),
    ...statisticsFields,
    ...delayFields,
  })
  .meta({ id: 'DataPipeline' })
export type PipelineView = z.infer<typeof pipelineView>

/** Its state alone: of its deployment, and live from the scheduler. */
export const pipelineState = pipelineView
  .pick({
    ...{ uid: true, dag_id: true, status: true, fault: true, auto_start: true, last_run: true },
    ...{ workflow_next_run: true, delay: true, landing_zone: true },
    ...{ commit: true, catalog_version: true, check: true },
  })
  .extend(scheduleViewFields)
  .meta({ id: 'DataPipelineStatus' })
