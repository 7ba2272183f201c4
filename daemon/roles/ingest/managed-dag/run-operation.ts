// Declares the operation that triggers a run of an object with a DAG.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { workflowRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { max_run_bytes, runInputFields, triggerManually } from '../dag-run/run-fields.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import type { ManagedKind } from './kind.ts'
import { isLive, type ManagedDag } from './model.ts'
import { openManaged } from './open-managed.ts'
import { refuseWithoutDag } from './set-paused.ts'

export function runOperation<T extends ManagedDag>(kind: Pick<ManagedKind<T>, 'object' | 'noun' | 'collection'>) {
  return operation({
    ...objectPaths(`${kind.object}/{uid}/run`),
    summary: `Trigger a run of ${kind.noun}, or run a former one again`,
    method: 'POST',
    tool: `${kind.object}_run`,
    input: z.strictObject({ ...uidInput.shape, ...runInputFields }),
    output: workflowRun,
    status: 201,
    errors: ['not_found', 'not_your_tenant', 'wrong_state', 'idempotency_mismatch'],
    allow: 'ingest:run',
    creates: true,
    max_body_bytes: max_run_bytes,

    async run(call, { uid, ...request }) {
      const { value } = await openManaged(call, kind.collection, uid)
      if (!isLive(value)) return refuseWithoutDag(kind, value)
      return await triggerManually(call, { dag_id: value.dag_id, pipeline: uid }, request)
    },
  })
}
