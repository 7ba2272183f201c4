// Deletes a pipeline and its DAG.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { isJobOver } from '../../../kernel/job/rules.ts'
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
    if (!isJobOver(value)) return refuse('wrong_state', 'the pipeline is being deployed: wait for the end of its check')
    const refused = await call
      .part(workflowSchedulerPart)
      .actFor(call)
      .removeDag({ dag_id: value.dag_id, pipeline: uid })
    if (isRefusal(refused)) return refused
    await call.store(pipelines).remove(uid, [call.audited(call.address, uid, { dag_id: value.dag_id }, value.label)])
    return { deleted: true as const }
  },
})
