// Shows the health of the workflow scheduler.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { objectPaths } from '../object-paths.ts'

const component = z.enum(['healthy', 'unhealthy'])

export const health = operation({
  ...objectPaths('workflow/health'),
  summary: 'Show the health of the workflow scheduler and of its database',
  method: 'GET',
  tool: 'workflow_health',
  input: z.strictObject({}),
  output: z
    .strictObject({
      kind: z.enum(['airflow', 'embedded']),
      scheduler: component,
      metadatabase: component,
      detail: z.string().optional(),
    })
    .meta({ id: 'WorkflowHealth' }),
  errors: [],
  allow: 'ingest:read',

  async run(call) {
    const scheduler = call.part(workflowSchedulerPart)
    return { kind: scheduler.kind, ...(await scheduler.health(call.signal)) }
  },
})
