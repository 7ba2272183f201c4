// Recognises a repeated request by its idempotency key: the same request finds its document, another one is refused.
import { type Refusal, refuse } from '../error/errors.ts'
import type { Doc } from '../store/store.ts'
import type { Call } from './call.ts'

/** `before`: the document that the idempotency key of this request created. */
export function checkRepeatedRequest<T extends { readonly request_digest: string }>(
  call: Pick<Call, 'requestDigest'>,
  before: Doc<T>,
): Doc<T> | Refusal {
  return before.value.request_digest === call.requestDigest() ? before : refuseOtherRequest()
}

export function refuseOtherRequest(): Refusal {
  return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
}
