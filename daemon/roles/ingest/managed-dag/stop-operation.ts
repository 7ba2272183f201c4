// Declares the operation that stops the active runs of an object with a DAG.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList } from '../../../kernel/operation/paging.ts'
import { type WorkflowRun, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { workflowRunList } from '../dag-run/list.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import type { ManagedKind } from './kind.ts'
import type { ManagedDag } from './model.ts'
import { openManaged } from './open-managed.ts'

/** Active runs of one DAG; more are stopped by a further request. */
const max_active = 500

export function stopOperation<T extends ManagedDag>(kind: Pick<ManagedKind<T>, 'object' | 'noun' | 'collection'>) {
  return operation({
    ...objectPaths(`${kind.object}/{uid}/stop`),
    summary: `Stop the active runs of ${kind.noun}; answers with those that it stopped`,
    method: 'POST',
    tool: `${kind.object}_stop`,
    input: uidInput,
    output: workflowRunList,
    errors: ['not_found', 'not_your_tenant'],
    allow: 'ingest:run',

    async run(call, { uid }) {
      const { value } = await openManaged(call, kind.collection, uid)
      const dag = { dag_id: value.dag_id, pipeline: uid }
      const scheduler = call.part(workflowSchedulerPart).actFor(call)
      const stopped: WorkflowRun[] = []
      // A run that begins meanwhile is in the second list.
      for (const state of ['queued', 'running'] as const) {
        const active = await scheduler.listRuns(dag, { state, limit: max_active })
        if (isRefusal(active)) return active
        for (const { dag_run_id } of active.runs) {
          const run = await scheduler.stopRun(dag, dag_run_id)
          if (isRefusal(run)) return run
          stopped.push(run)
        }
      }
      return wholeList(stopped)
    },
  })
}
