// The requests that still wait for a second person.
import type { Call } from '../../../kernel/call.ts'
import { type PendingRelease, releaseRequests } from './model.ts'

/** Undefined when nobody has asked, or its time is over. */
export async function pendingOf(call: Call, item: string): Promise<PendingRelease | undefined> {
  const found = await call.store(releaseRequests).find(item)
  if (!found || found.value.expires_ts <= call.now()) return undefined
  const { tenant_id: _tenant, expires_ts: _expires, ...pending } = found.value
  return pending
}
