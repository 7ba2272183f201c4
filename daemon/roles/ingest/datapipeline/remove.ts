// Deletes a pipeline and its DAG.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { freeConnections, listHeldConnections } from '../connection/claim-connection.ts'
import { uidInput } from '../fields.ts'
import { removeZone } from '../landing-zone/change-zone.ts'
import { removeManaged } from '../managed-dag/remove-managed.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelineKind } from './kind.ts'
import type { StoredPipeline } from './model.ts'

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
    const release = async (value: StoredPipeline) => {
      await freeConnections(call, uid, listHeldConnections(value))
      await removeZone(call, uid)
    }
    return await removeManaged(call, pipelineKind, uid, release)
  },
})
