// Requests the release of a quarantined message: the first of two people signs.
import * as z from 'zod'
import type { Jws } from '../../../kernel/cryptography/signatures.ts'
import { sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import {
  parseRelease,
  personalSignature,
  type ReleaseRequest,
  releasePayload,
  releaseRequest,
} from '../../../kernel/messaging/release.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { isCleared } from './find-pending-release.ts'
import { itemFields, type PendingRelease, pendingRelease, releaseRequests } from './model.ts'
import { refuseNotCleared, requireOwnSignature } from './rules.ts'
import {
  loadReleaseTarget,
  refuseNoSuchItem,
  refuseUnreadable,
  requestExpiry,
  verifyRelease,
} from './verify-release.ts'

export const request = operation({
  summary: 'Request the release of a quarantined message with the caller’s own signature',
  method: 'POST',
  path: '/api/v2/site/quarantine/{peer}/{id}/request',
  input: z.strictObject({ ...itemFields, signature: personalSignature }),
  output: pendingRelease,
  status: 201,
  errors: ['not_found', 'signature_invalid', 'conflict'],
  allow: 'quarantine:release',

  async run(call, { peer, id, signature }) {
    const target = await loadReleaseTarget(call, peer, id)
    if (!target) return refuseNoSuchItem()
    const release = parseRelease(releaseRequest, signature)
    if (!release) return refuseUnreadable()
    const signer = requireOwnSignature(await verifyRelease(call, release, signature, target), call.caller.subject)
    if (isRefusal(signer)) return signer
    if (!isCleared(call, release.label)) return refuseNotCleared()
    return await storeRequest(call, release, signature)
  },
})

/** Stores a request. A repeat changes nothing; a different request replaces the previous one. */
async function storeRequest(call: Call, release: ReleaseRequest, signature: Jws): Promise<PendingRelease> {
  const { item, waiver, label, reason, subject, created } = release
  const expires_ts = requestExpiry(call, release)
  const ends = new Date(expires_ts).toISOString()
  const digest = sha384(releasePayload(release))
  const fields = { subject, waiver, reason, created, ends, digest, signature }
  const pending = label ? { ...fields, label } : fields
  const event = call.audited(
    'site.quarantine.request',
    item,
    { waiver, digests: release.digests, reason, signature },
    label,
  )
  const store = call.store(releaseRequests)
  const next = { tenant_id: call.site.tenant_id, ...fields, expires_ts }
  if ((await store.create(item, next, [event])) !== 'exists') return pending
  await store.update(item, ({ value }) =>
    value.digest === digest ? { answer: undefined } : { answer: undefined, next, audit: [event] },
  )
  return pending
}
