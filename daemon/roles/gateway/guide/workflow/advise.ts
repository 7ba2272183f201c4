// Gives advisory hints on a workflow: on a DAG, or on the operators of an effect. It reads the graph alone, and blocks nothing.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { assembledDag, max_tasks } from '../../../../shared/assembled-dag/assembled-dag.ts'
import { effectOperator } from '../../../../shared/assembled-dag/operator-chain.ts'
import { assembleDraft } from './draft.ts'
import { workflowHint } from './hint.ts'
import { listHints, max_hints } from './hints.ts'
import { findInterval, hintScheduleParserPart } from './schedule-interval.ts'

/** As a pipeline or an effect may have. */
const max_body_bytes = 262_144

const input = z.strictObject({
  dag: assembledDag.optional().meta({ description: 'An assembled DAG' }),
  operators: z
    .array(effectOperator)
    .min(1)
    .max(max_tasks)
    .optional()
    .meta({ description: 'Or operators of an effect, each of which follows the one before it' }),
  schedule: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: 'The schedule that it is to have: a cron expression, @hourly, @daily, @weekly or @monthly' }),
})

export const advise = operation({
  summary: 'Give hints on a workflow before it is deployed: missing best practice, data quality and modeling issues',
  method: 'POST',
  path: '/api/v2/gateway/workflow-hint',
  tool: 'gateway_workflow_hints',
  input,
  output: z
    .strictObject({ hints: z.array(workflowHint).max(max_hints).meta({ description: 'They block nothing' }) })
    .meta({ id: 'WorkflowHints' }),
  errors: [],
  allow: 'gateway:call',
  reads: true,
  max_body_bytes,

  async run(call, { dag: given, operators, schedule }) {
    const dag = given ?? (operators && assembleDraft(operators))
    if (!dag || (given && operators)) return refuse('invalid', 'send either dag or operators')
    const interval_s = schedule === undefined ? undefined : findInterval(call.part(hintScheduleParserPart), schedule)
    if (isRefusal(interval_s))
      return refuse('invalid', interval_s.message, [{ path: 'schedule', message: interval_s.message }])
    return { hints: listHints(dag, { interval_s }) }
  },
})
