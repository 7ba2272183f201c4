// Binds the idempotency key of a request to its content. A lens cannot hold it: a request may find the lens already stored.
import * as z from 'zod'
import type { Refusal } from '../../../kernel/error/errors.ts'
import { type Label, label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { refuseOtherRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { collection } from '../../../kernel/store/store.ts'

/** Written once, never changed. */
export const lensRequests = collection({
  name: 'lens_request',
  schema: z.strictObject({ tenant_id: z.string(), label, digest: z.string() }),
  // Found by id alone.
  indexes: [],
})

/** Refuses a request under a key that was used with another one. */
export async function checkRequestKey(call: Call): Promise<Refusal | undefined> {
  if (call.idempotency_key === undefined) return undefined
  const before = await call.store(lensRequests).find(requestId(call))
  return before && before.value.digest !== call.requestDigest() ? refuseOtherRequest() : undefined
}

/** Claims the key for this request, durably; refuses where another request claimed it meanwhile. */
export async function claimRequestKey(call: Call, label: Label): Promise<Refusal | undefined> {
  if (call.idempotency_key === undefined) return undefined
  const claim = { tenant_id: call.caller.tenant_id, label, digest: call.requestDigest() }
  const outcome = await call.store(lensRequests).create(requestId(call), claim)
  return outcome === 'exists' ? await checkRequestKey(call) : undefined
}

/** Derived from caller, operation and key. */
const requestId = (call: Call) => call.newId('lrq')
