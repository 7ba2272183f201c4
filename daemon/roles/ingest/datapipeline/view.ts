// Shows a pipeline with the live state of its DAG.
import { showDelay } from '../../../kernel/job/job-delay.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { pipelineSchedules } from '../datapipeline-schedule/model.ts'
import { showScheduleFields } from '../datapipeline-schedule/view.ts'
import { showLandingZone } from '../landing-zone/show-zone.ts'
import { readLiveState } from '../managed-dag/live-state.ts'
import type { PipelineView, StoredPipeline } from './model.ts'

export async function showPipeline(call: Call, doc: Doc<StoredPipeline>): Promise<PipelineView> {
  const { id, version, value } = doc
  const schedule = await call.store(pipelineSchedules).find(id)
  const { tenant_id, label, created_by, created_at, updated_at, dag_id, content, pipeline_type, run_on_deploy } = value
  return {
    ...{ uid: id, version, subtype: value.subtype, tenant_id, classification: label, created_by },
    ...{ create_ts: created_at, update_ts: updated_at, dag_id, content, pipeline_type, run_on_deploy },
    ...(value.description === undefined ? {} : { description: value.description }),
    ...(await readLiveState(call, doc)),
    ...showScheduleFields(schedule?.value),
    ...(await showLandingZone(call, id)),
    ...showDelay(value),
  }
}
