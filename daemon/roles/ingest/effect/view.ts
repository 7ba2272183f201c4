// Shows an effect with the live state of its DAG.
import { showDelay } from '../../../kernel/job/job-delay.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { pipelineSchedules } from '../datapipeline-schedule/model.ts'
import { showScheduleFields } from '../datapipeline-schedule/view.ts'
import { readLiveState } from '../managed-dag/live-state.ts'
import { dispatchFields, type EffectView, type StoredEffect } from './model.ts'

export async function showEffect(call: Call, doc: Doc<StoredEffect>): Promise<EffectView> {
  const { id: uid, version, value } = doc
  const { subtype, tenant_id, label, created_by, created_at, updated_at, dag_id, name, description } = value
  const { operators, connections, run_on_deploy, delete_on_success } = value
  const schedule = await call.store(pipelineSchedules).find(uid)
  const live = await readLiveState(call, doc)
  return {
    ...{ uid, version, subtype, tenant_id, classification: label, created_by },
    ...{ create_ts: created_at, update_ts: updated_at, dag_id, name },
    ...(description === undefined ? {} : { description }),
    ...{ operators, connections, run_on_deploy, delete_on_success },
    ...pickDispatchFields(value),
    uds: { visibility: label.level },
    ...live,
    ...showScheduleFields(schedule?.value),
    cleanup_suggested: delete_on_success && live.last_run?.state === 'success',
    ...showDelay(value),
  }
}

function pickDispatchFields(value: StoredEffect): Pick<StoredEffect, keyof typeof dispatchFields> {
  const names = Object.keys(dispatchFields) as (keyof typeof dispatchFields)[]
  return Object.fromEntries(names.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]))
}
