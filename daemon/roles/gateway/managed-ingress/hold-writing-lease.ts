// The lease of the process that writes the ingresses: of several gateways, one writes.
import type { Call } from '../../../kernel/operation/call.ts'
import type { IngressKeeping } from './parts.ts'

const lease_key = 'managed-ingresses'
/** After a crash, the time until another process takes over. */
const lease_ms = 15_000
const renewal_ms = 5_000

/** Whether this process may write now. Throws `Refusal('unavailable')` when the store does not answer. */
export async function holdWritingLease(call: Call, { leases, progress }: IngressKeeping): Promise<boolean> {
  if (progress.isEnding) return false
  const now_ms = call.monotonic()
  const { lease: held } = progress
  if (held && now_ms - held.renewed_ms < renewal_ms) return true
  if (held && (await leases.renew(held.lease, lease_ms))) {
    held.renewed_ms = now_ms
    return true
  }
  progress.lease = undefined
  const { trace_id } = call.trace
  if (held) call.log.warn('gateway.ingress.standby', { trace_id })
  const taken = await leases.take(lease_key, lease_ms)
  if (!taken) return false
  call.log.info('gateway.ingress.writer', { trace_id })
  progress.lease = { lease: taken, renewed_ms: now_ms }
  // Another process may have written since.
  progress.records = undefined
  progress.settled = undefined
  return true
}

/** Another process may write at once, and not only when the lease has run out. */
export async function releaseWritingLease({ leases, progress }: IngressKeeping): Promise<void> {
  progress.isEnding = true
  const { lease: held } = progress
  progress.lease = undefined
  if (held) await leases.release(held.lease)
}
