// The key of the hold-out: one for all processes over one store, and for as long as the store is kept.
import type { Call } from '../../../../kernel/operation/call.ts'
import { learningPart } from '../learning/parts.ts'
import { holdoutKeys } from './model.ts'

const key_id = 'current'
const key_bytes = 32

/** Creates it where there is none: of several processes, one succeeds, and all have its key. */
export async function loadHoldoutKey(call: Call): Promise<void> {
  const { holdout } = call.part(learningPart)
  if (holdout.key) return
  const store = call.store(holdoutKeys)
  const known = (await store.find(key_id)) ?? (await createKey(call))
  holdout.key = Buffer.from(known.value.key, 'hex')
}

async function createKey(call: Call) {
  const now = call.now()
  const { tenant_id } = call.site
  const created = await call.store(holdoutKeys).create(key_id, {
    ...{ tenant_id, uds: { timestamp: now, username: call.caller.subject, visibility: 'tenant' } },
    ...{ create_ts: now, update_ts: now, schema_version: 1, key: call.random(key_bytes) },
  })
  return created === 'exists' ? await call.store(holdoutKeys).get(key_id) : created
}
