// Tests a connection live, within the time of the profile.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { openSecretField } from '../../../shared/data-key/data-key.ts'
import { connectionProberPart, type OpenConnection } from '../parts.ts'
import { settings } from '../settings.ts'
import { type ConnectionTest, connections, type StoredConnection } from './model.ts'
import { isReadable } from './type/readable.ts'

export async function testConnection(call: Call, doc: Doc<StoredConnection>): Promise<ConnectionTest> {
  if (!isReadable(doc.value.conn_type))
    return { ok: false, detail: `this service does not test connections of the type ${doc.value.conn_type}` }
  const timeout_ms = Math.ceil(call.settings(settings).hook_check_timeout_s * 1_000)
  return await call.part(connectionProberPart).probe(await openConnection(call, doc), timeout_ms, call.signal)
}

/** With its secret in memory, for one use. */
export async function openConnection(call: Call, { id, value }: Doc<StoredConnection>): Promise<OpenConnection> {
  const { tenant_id, conn_type, config, secret } = value
  if (secret === undefined) return { tenant_id, conn_type, config }
  return {
    ...{ tenant_id, conn_type, config },
    secret: await openSecretField(call, connections, { id, tenant_id }, 'secret', secret),
  }
}
