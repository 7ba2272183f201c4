// Shows the logs of the failed tasks of a run.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { workflowSchedulerPart, workflowTask } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { objectPaths } from '../object-paths.ts'
import { runKeyFields } from './run-fields.ts'

const failedTask = z
  .strictObject({
    ...workflowTask.shape,
    log: z.string().meta({ description: 'The end of the log of its newest try' }),
  })
  .meta({ id: 'FailedWorkflowTask' })

/** Of the log of each task. */
const shown_characters = 16_384

export const errors = operation({
  ...objectPaths('dag/{dag_id}/run/{dag_run_id}/errors'),
  summary: 'Show the logs of the failed tasks of a run',
  method: 'GET',
  tool: 'datapipeline_run_errors',
  input: z.strictObject(runKeyFields),
  output: wholeListSchema(failedTask).meta({ id: 'FailedWorkflowTaskList' }),
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(call, { dag_id, dag_run_id }) {
    const scheduler = call.part(workflowSchedulerPart).actFor(call)
    const tasks = await scheduler.listTasks({ dag_id }, dag_run_id)
    if (isRefusal(tasks)) return tasks
    const failed: z.output<typeof failedTask>[] = []
    for (const task of tasks.filter(({ state }) => state === 'failed' || state === 'up_for_retry')) {
      const log = await scheduler.readLog({ dag_id }, dag_run_id, task.task_id)
      if (isRefusal(log)) return log
      failed.push({ ...task, log: log.slice(-shown_characters).toWellFormed() })
    }
    return wholeList(failed)
  },
})
