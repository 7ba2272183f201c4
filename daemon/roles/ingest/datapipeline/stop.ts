// Stops the active runs of a pipeline.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList } from '../../../kernel/operation/paging.ts'
import { type WorkflowRun, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { workflowRunList } from '../dag-run/list.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { openPipeline } from './open-pipeline.ts'

/** Active runs of one DAG; more are stopped by a further request. */
const max_active = 500

export const stop = operation({
  ...objectPaths('datapipeline/{uid}/stop'),
  summary: 'Stop the active runs of a pipeline; answers with those that it stopped',
  method: 'POST',
  tool: 'datapipeline_stop',
  input: uidInput,
  output: workflowRunList,
  errors: ['not_found', 'not_your_tenant'],
  allow: 'ingest:run',

  async run(call, { uid }) {
    const { dag_id } = (await openPipeline(call, uid)).value
    const scheduler = call.part(workflowSchedulerPart).actFor(call)
    const stopped: WorkflowRun[] = []
    for (const state of ['running', 'queued'] as const) {
      const active = await scheduler.listRuns(dag_id, { state, limit: max_active })
      if (isRefusal(active)) return active
      for (const { dag_run_id } of active) {
        const run = await scheduler.stopRun(dag_id, dag_run_id)
        if (isRefusal(run)) return run
        stopped.push(run)
      }
    }
    return wholeList(stopped)
  },
})
