// Declares the operation that lists the runs of an object with a DAG, newest first.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { workflowRunList } from '../dag-run/list.ts'
import { runListFields, showRunPage } from '../dag-run/run-fields.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import type { ManagedKind } from './kind.ts'
import type { ManagedDag } from './model.ts'

export function runsOperation<T extends ManagedDag>(kind: Pick<ManagedKind<T>, 'object' | 'noun' | 'collection'>) {
  return operation({
    ...objectPaths(`${kind.object}/{uid}/runs`),
    summary: `List runs of ${kind.noun}, newest first`,
    method: 'GET',
    tool: `${kind.object}_runs`,
    input: z.strictObject({ ...uidInput.shape, ...runListFields }),
    output: workflowRunList,
    errors: ['not_found'],
    allow: 'ingest:read',

    async run(call, { uid, state, limit }) {
      const { value } = await call.store(kind.collection).get(uid)
      const found = await call
        .part(workflowSchedulerPart)
        .actFor(call)
        .listRuns({ dag_id: value.dag_id, pipeline: uid }, { state, limit })
      return isRefusal(found) ? found : showRunPage(found)
    },
  })
}
