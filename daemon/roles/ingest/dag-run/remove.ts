// Deletes a run of a DAG; an active one is stopped first.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { objectPaths } from '../object-paths.ts'
import { runKeyFields } from './run-fields.ts'

export const remove = operation({
  ...objectPaths('dag/{dag_id}/run/{dag_run_id}'),
  summary: 'Cancel and delete a run of a DAG; datasets that it landed stay',
  method: 'DELETE',
  tool: 'datapipeline_run_delete',
  input: z.strictObject(runKeyFields),
  output: z.strictObject({ deleted: z.literal(true) }),
  errors: ['not_found'],
  allow: 'ingest:run',

  async run(call, { dag_id, dag_run_id }) {
    const refused = await call.part(workflowSchedulerPart).actFor(call).deleteRun({ dag_id }, dag_run_id)
    return isRefusal(refused) ? refused : { deleted: true as const }
  },
})
