// Changes a pipeline: deploys other content, describes it, or pauses and resumes its DAG.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { isJobOver, newJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineInputFields, pipelines, pipelineView, type StoredPipeline } from './model.ts'
import { openPipeline } from './open-pipeline.ts'
import { refusePython } from './read-content.ts'
import { setPaused } from './set-paused.ts'
import { showPipeline } from './view.ts'

const input = z.strictObject({
  ...uidInput.shape,
  content: pipelineInputFields.content.optional(),
  description: z.string().max(4_096).optional(),
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

  async run(call, { uid, content, description, action }) {
    const refused = content === undefined ? undefined : refusePython(content)
    if (refused) return refused
    const doc = await changeFields(call, uid, content, description)
    if (isRefusal(doc)) return doc
    const paused = action === undefined ? doc : await setPaused(call, uid, action === 'pause')
    return isRefusal(paused) ? paused : await showPipeline(call, paused)
  },
})

async function changeFields(
  call: Call,
  uid: string,
  content: string | undefined,
  description: string | undefined,
): Promise<Doc<StoredPipeline> | Refusal> {
  const store = call.store(pipelines)
  if (content === undefined && description === undefined) return await openPipeline(call, uid)
  const principal =
    content === undefined ? undefined : await call.delegation().store({ collection: pipelines.name, id: uid })
  if (isRefusal(principal)) return principal
  const { doc, answer } = await store.update<Refusal | undefined>(uid, ({ value }) => {
    const described = { ...value, ...(description === undefined ? {} : { description }), updated_at: call.nowIso() }
    if (content === undefined) return { next: described, answer: undefined }
    if (!isJobOver(value))
      return { answer: refuse('wrong_state', 'the content before is being checked: wait for its end') }
    const { fault: _fault, ...rest } = described
    const deployments = value.deployments + 1
    const next: StoredPipeline = {
      ...rest,
      content,
      deployments,
      status: 'pending_validation',
      ...newJob(principal, call.now()),
    }
    return { next, answer: undefined, audit: [call.audited(call.address, uid, { deployments }, value.label)] }
  })
  if (isRefusal(answer)) return answer
  announceJob(call, pipelines, doc)
  return doc
}
