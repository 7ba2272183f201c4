// Deletes a pipeline and its DAG.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelines } from './model.ts'
import { openPipeline } from './open-pipeline.ts'

export const remove = operation({
  ...objectPaths('datapipeline/{uid}'),
  summary: 'Delete a pipeline and its DAG; datasets that it landed stay',
  method: 'DELETE',
  tool: 'datapipeline_delete',
  input: uidInput,
  output: z.strictObject({ deleted: z.literal(true) }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'ingest:write',

  async run(call, { uid }) {
    const { value } = await openPipeline(call, uid)
    const scheduler = call.part(workflowSchedulerPart).actFor(call)
    for (const state of ['running', 'queued'] as const) {
      const active = await scheduler.listRuns(value.dag_id, { state, limit: 1 })
      if (!isRefusal(active) && active.length > 0)
        return refuse('wrong_state', 'the pipeline has an active run: stop it first')
    }
    await call.store(pipelines).remove(uid, [call.audited(call.address, uid, { dag_id: value.dag_id }, value.label)])
    return { deleted: true as const }
  },
})
