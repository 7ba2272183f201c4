// Stops the active runs of a pipeline.
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList } from '../../../kernel/operation/paging.ts'
import { type WorkflowRun, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { workflowRunList } from '../dag-run/list.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelines } from './model.ts'

/** Active runs of one DAG; more are stopped by a further request. */
const max_active = 500

export const stop = operation({
  ...objectPaths('datapipeline/{uid}/stop'),
  summary: 'Stop the active runs of a pipeline; answers with those that it stopped',
  method: 'POST',
  tool: 'datapipeline_stop',
  input: uidInput,
  output: workflowRunList,
  errors: ['not_found', 'wrong_state'],
  allow: 'ingest:run',

  async run(call, { uid }) {
    const { dag_id } = (await call.store(pipelines).get(uid)).value
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
    return stopped.length === 0 ? refuse('wrong_state', 'the pipeline has no active run') : wholeList(stopped)
  },
})
