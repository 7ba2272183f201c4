// Stores a new connection: its fields by the template of its type, its secret sealed.
import * as z from 'zod'
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { resolveClassification } from '../../../kernel/label/resolve-classification.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { checkRepeatedRequest } from '../../../kernel/operation/check-repeated-request.ts'
import type { SecretText } from '../../../kernel/secret/secret-text.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { sealSecretField } from '../../../shared/data-key/data-key.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { connectionInputFields, connections, type StoredConnection } from './model.ts'
import { checkConfig, checkSecret, findConnectionType } from './type/catalog.ts'
import { refuseUnreadable } from './type/readable.ts'

export const newConnection = z.strictObject(connectionInputFields)

/** Everything is checked before the secret is sealed. A repeated request returns the connection as it is now. */
export async function storeConnection(
  call: Call,
  { classification, conn_type, ...given }: z.output<typeof newConnection>,
  secret: SecretText | undefined,
): Promise<Doc<StoredConnection> | Refusal> {
  const type = findConnectionType(conn_type)
  const unreadable = refuseUnreadable(call.part(workflowSchedulerPart), conn_type)
  if (unreadable) return unreadable
  const config = checkConfig(type, given.config)
  if (isRefusal(config)) return config
  const text = secret && checkSecret(type, secret.reveal())
  if (isRefusal(text)) return text
  const label = resolveClassification(call, classification ?? call.site.default_level)
  if (isRefusal(label)) return label
  const { tenant_id, subject } = call.caller
  const [id, at] = [call.newId('conn'), call.nowIso()]
  const value: StoredConnection = {
    ...{ tenant_id, label, created_by: subject, created_at: at, updated_at: at, request_digest: call.requestDigest() },
    ...{ ...given, conn_type, config, subtype: 'datapipelineconnection' },
    ...(text === undefined
      ? {}
      : { secret: await sealSecretField(call, connections, { id, tenant_id }, 'secret', text) }),
  }
  const audit = [call.audited(call.address, id, { conn_type, has_secret: text !== undefined }, label)]
  const stored = await call.store(connections).create(id, value, audit)
  return stored === 'exists' ? checkRepeatedRequest(call, await call.store(connections).get(id)) : stored
}
