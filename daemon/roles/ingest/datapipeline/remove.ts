// Deletes a pipeline and its DAG.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { freeConnections, listHeldConnections } from '../connection/claim-connection.ts'
import { pipelineSchedules } from '../datapipeline-schedule/model.ts'
import { uidInput } from '../fields.ts'
import { removeManaged } from '../managed-dag/remove-managed.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineKind } from './kind.ts'

export const remove = operation({
  ...objectPaths('datapipeline/{uid}'),
  summary: 'Delete a pipeline and its DAG; datasets that it landed stay',
  method: 'DELETE',
  tool: 'datapipeline_delete',
  input: uidInput,
  output: z.strictObject({ deleted: z.literal(true) }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'ingest:write',

  async run(call, { uid }) {
    const removed = await removeManaged(
      call,
      pipelineKind,
      uid,
      async (value) => await freeConnections(call, uid, listHeldConnections(value)),
    )
    // A record that a crash leaves here finds no pipeline, and ends.
    if (!isRefusal(removed) && (await call.store(pipelineSchedules).find(uid)))
      await call.store(pipelineSchedules).remove(uid)
    return removed
  },
})
