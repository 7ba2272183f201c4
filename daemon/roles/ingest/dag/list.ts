// Lists the DAGs of the scheduler that the caller may see.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { workflowDag, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { objectPaths } from '../object-paths.ts'

export const list = operation({
  ...objectPaths('dag'),
  summary: 'List the DAGs that the scheduler has',
  method: 'GET',
  tool: 'dag_list',
  input: z.strictObject({
    active_only: z.boolean().default(false).meta({ description: 'Leave out paused DAGs' }),
  }),
  output: wholeListSchema(workflowDag).meta({ id: 'WorkflowDagList' }),
  errors: [],
  allow: 'ingest:read',

  async run(call, { active_only }) {
    return wholeList([...(await call.part(workflowSchedulerPart).actFor(call).listDags({ active_only }))])
  },
})
