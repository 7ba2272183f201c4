// Deletes a pipeline and its DAG.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { freeConnections, listHeldConnections } from '../connection/claim-connection.ts'
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

  run: async (call, { uid }) =>
    await removeManaged(
      call,
      pipelineKind,
      uid,
      async (value) => await freeConnections(call, uid, listHeldConnections(value)),
    ),
})
