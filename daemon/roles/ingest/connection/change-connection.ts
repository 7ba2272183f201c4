// Changes a connection. Its secret stays only where the changed fields lead to the same server in the same way.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { SecretText } from '../../../kernel/secret/secret-text.ts'
import type { Doc, UpdateStep } from '../../../kernel/store/store.ts'
import { sealSecretField } from '../../../shared/data-key/data-key.ts'
import { uidInput } from '../fields.ts'
import { connectionInputFields, connections, type StoredConnection } from './model.ts'
import { checkConfig, checkSecret, findConnectionType, leadsToSameServer } from './type/catalog.ts'

export const changedConnection = z.strictObject({
  ...uidInput.shape,
  name: connectionInputFields.name.optional(),
  description: connectionInputFields.description,
  config: connectionInputFields.config.optional().meta({ description: 'All fields, in place of those before' }),
})

/**
 * A new secret goes with the fields in the same request: those who set it state the server that it is for, so that nobody can
 * exchange the server meanwhile.
 */
export async function changeConnection(
  call: Call,
  { uid, ...given }: z.output<typeof changedConnection>,
  secret?: SecretText,
): Promise<Doc<StoredConnection> | Refusal> {
  const { value: before } = await readForChange(call, uid)
  if (secret && given.config === undefined)
    return refuse('invalid', 'a secret is set together with the fields of its connection', [
      { path: 'config', message: 'is required with a secret' },
    ])
  const type = findConnectionType(before.conn_type)
  const config = given.config && checkConfig(type, given.config)
  if (isRefusal(config)) return config
  const text = secret && checkSecret(type, secret.reveal())
  if (isRefusal(text)) return text
  const place = { id: uid, tenant_id: before.tenant_id }
  const sealed = text === undefined ? undefined : await sealSecretField(call, connections, place, 'secret', text)
  const { doc } = await call.store(connections).update(uid, ({ value }): UpdateStep<StoredConnection, undefined> => {
    const { secret: kept, ...rest } = value
    const isSame = config === undefined || leadsToSameServer(type, value.config, config)
    const next_secret = sealed ?? (isSame ? kept : undefined)
    const next: StoredConnection = {
      ...{ ...rest, ...withoutUndefined(given), ...(config && { config }), updated_at: call.nowIso() },
      ...(next_secret && { secret: next_secret }),
    }
    const detail = { is_secret_set: sealed !== undefined, is_secret_cleared: kept !== undefined && !next_secret }
    return { next, answer: undefined, audit: [call.audited(call.address, uid, detail, value.label)] }
  })
  return doc
}

/** Throws as a change does: `not_your_tenant` for that of another tenant, and `precondition_failed`. */
async function readForChange(call: Call, uid: string): Promise<Doc<StoredConnection>> {
  return (await call.store(connections).update(uid, () => ({ answer: undefined }))).doc
}

function withoutUndefined({ name, description }: Pick<z.output<typeof changedConnection>, 'name' | 'description'>) {
  return { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
}
