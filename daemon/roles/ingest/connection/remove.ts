// Deletes a connection and its secret.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { refuseInUse } from './claim-connection.ts'
import { connections } from './model.ts'
import { findRegistry } from './register-connection.ts'

export const remove = operation({
  ...objectPaths('connection/{uid}'),
  summary: 'Delete a connection and its secret; one that a pipeline reads by stays',
  method: 'DELETE',
  tool: 'connection_delete',
  input: uidInput,
  output: z.strictObject({ deleted: z.literal(true) }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'ingest:connect',

  async run(call, { uid }) {
    const { doc } = await call.store(connections).update(uid, () => ({ answer: undefined }))
    const refused = await refuseInUse(call, doc)
    if (refused) return refused
    const kept = await findRegistry(call)?.remove(uid)
    if (kept) return kept
    const { conn_type, label } = doc.value
    await call.store(connections).remove(uid, [call.audited(call.address, uid, { conn_type }, label)])
    return { deleted: true as const }
  },
})
