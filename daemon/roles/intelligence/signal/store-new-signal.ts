// Allocates the short id of a signal, and handles collisions.

import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type StoredSignal, signals } from './model.ts'

/** Attempts to find a free id: in a store of a million signals one id in 300 million is taken. */
const max_attempts = 8

/** `sig_` and 12 hexadecimal digits: the first of the key, or a derived id after a collision. */
export function signalId(request_key: string, attempt: number): string {
  const digits = attempt === 0 ? request_key.slice('sig_'.length) : sha256(`${request_key} ${attempt}`)
  return `sig_${digits.slice(0, 12)}`
}

/**
 * Writes the signal under the first of its ids that is free. `isNew` is false if the same request wrote it before. Refuses
 * `idempotency_mismatch`, and `unavailable` when all are taken; throws `not_found` for a repeat that may not be seen.
 */
export async function storeNewSignal(
  call: Call,
  value: StoredSignal,
): Promise<{ readonly doc: Doc<StoredSignal>; readonly isNew: boolean } | Refusal> {
  for (let attempt = 0; attempt < max_attempts; attempt++) {
    const id = signalId(value.request_key, attempt)
    const { signal_type, severity, subject } = value
    const detail = { signal_type, severity, subject_type: subject.type, subject_id: subject.id }
    const outcome = await call.store(signals).create(id, value, [call.audited(call.address, id, detail, value.label)])
    if (outcome !== 'exists') return { doc: outcome, isNew: true }
    const before = await findIdHolder(call, id)
    if (before?.value.request_key !== value.request_key) continue
    if (before.value.request_digest === value.request_digest) return { doc: before, isNew: false }
    return refuse('idempotency_mismatch', 'the idempotency key was used with another request')
  }
  return refuse('unavailable', 'could not allocate a unique id; retry')
}

/** The signal that has the id; undefined if it belongs to another tenant, which is a mere collision. */
async function findIdHolder(call: Call, id: string): Promise<Doc<StoredSignal> | undefined> {
  const holder = await call.store(signals).find(id)
  if (holder) return holder
  try {
    const { doc } = await call.store(signals).update(id, () => ({ answer: undefined }))
    return doc
  } catch (error) {
    // Of the caller's tenant and above the caller: a collision without an idempotency key, possibly a repeat with one.
    const isRepeat = isRefusal(error) && error.code === 'not_found' && call.idempotency_key !== undefined
    if (isRepeat || !isRefusal(error)) throw error
    return undefined
  }
}
