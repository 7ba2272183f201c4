// Changes a pipeline: deploys other content, describes it, or pauses and resumes its DAG.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { refuseTakenContent } from '../connection/claim-connection.ts'
import { changeSchedule } from '../datapipeline-schedule/change-schedule.ts'
import { scheduleInputFields } from '../datapipeline-schedule/model.ts'
import { checkSchedule } from '../datapipeline-schedule/plan-schedule.ts'
import { uidInput } from '../fields.ts'
import { openManaged } from '../managed-dag/open-managed.ts'
import { beginAgain, refuseInStep } from '../managed-dag/redeploy.ts'
import { setPaused } from '../managed-dag/set-paused.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineKind } from './kind.ts'
import { pipelineInputFields, pipelines, pipelineView, type StoredPipeline } from './model.ts'
import { refusePython } from './read-content.ts'
import { showPipeline } from './view.ts'

const input = z.strictObject({
  ...uidInput.shape,
  content: pipelineInputFields.content.optional(),
  description: z.string().max(4_096).optional(),
  ...scheduleInputFields,
  action: z.enum(['pause', 'unpause']).optional(),
})

export const update = operation({
  ...objectPaths('datapipeline/{uid}'),
  summary: 'Change a pipeline: deploy other content, or pause and resume its DAG',
  method: 'PATCH',
  tool: 'datapipeline_update',
  input,
  output: pipelineView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'needs_airflow', 'precondition_failed'],
  allow: 'ingest:write',
  versioned: true,

  async run(call, { uid, action, ...changes }) {
    const { content } = changes
    const refused =
      (content === undefined
        ? undefined
        : (refusePython(call, content) ?? (await refuseTakenContent(call, content, ({ id }) => id === uid)))) ??
      checkSchedule(call, changes)
    if (refused) return refused
    if (action !== undefined && Object.values(changes).some((change) => change !== undefined))
      return refuse('invalid', 'action goes without other changes: send two requests', [
        { path: 'action', message: 'goes without content, description, schedule and timezone' },
      ])
    const doc =
      action === undefined
        ? await changeFields(call, uid, changes)
        : await setPaused(call, pipelineKind, uid, action === 'pause')
    return isRefusal(doc) ? doc : await showPipeline(call, doc)
  },
})

async function changeFields(
  call: Call,
  uid: string,
  { content, description, schedule, timezone }: Omit<z.output<typeof input>, 'uid' | 'action'>,
): Promise<Doc<StoredPipeline> | Refusal> {
  const before = await openManaged(call, pipelines, uid)
  const refused = content === undefined ? undefined : refuseInStep(before.value)
  if (refused) return refused
  const unscheduled = await changeSchedule(call, before, { schedule, timezone }, content !== undefined)
  if (unscheduled) return unscheduled
  const principal =
    content === undefined ? undefined : await call.delegation().store({ collection: pipelines.name, id: uid })
  if (isRefusal(principal)) return principal
  const { doc, answer } = await call.store(pipelines).update<Refusal | undefined>(uid, ({ value }) => {
    const described = { ...value, ...(description === undefined ? {} : { description }), updated_at: call.nowIso() }
    const detail = { deployments: value.deployments + (content === undefined ? 0 : 1) }
    const audit = [call.audited(call.address, uid, detail, value.label)]
    if (content === undefined) return { next: described, answer: undefined, audit }
    const late = refuseInStep(value)
    if (late) return { answer: late }
    const { fault: _fault, ...rest } = described
    const next: StoredPipeline = {
      ...rest,
      ...detail,
      content,
      status: 'pending_validation',
      ...beginAgain(value, principal, call.now()),
    }
    return { next, answer: undefined, audit }
  })
  if (isRefusal(answer)) return answer
  announceJob(call, pipelines, doc)
  return doc
}
