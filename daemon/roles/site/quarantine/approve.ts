// Approves the release of a quarantined message: a second person signs, and the message is received again.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { parseRelease, personalSignature, releaseApproval, releaseRequest } from '../../../kernel/messaging/release.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { custodyOf } from '../custody.ts'
import { findPendingRelease } from './find-pending-release.ts'
import { itemFields } from './model.ts'
import { checkApprovalPair, type ReleaseTarget, refuseNotCleared, requireOwnSignature } from './rules.ts'
import { loadReleaseTarget, refuseNoSuchItem, refuseUnreadable, verifyRelease } from './verify-release.ts'

export const approve = operation({
  summary: 'Approve the release of a quarantined message that another person has requested',
  method: 'POST',
  path: '/api/v2/site/quarantine/{peer}/{id}/approve',
  input: z.strictObject({ ...itemFields, signature: personalSignature }),
  output: z.strictObject({ released: z.string() }).meta({ id: 'Released' }),
  status: 202,
  errors: ['not_found', 'signature_invalid', 'conflict'],
  allow: 'quarantine:release',

  async run(call, { peer, id, signature }) {
    const target = await loadReleaseTarget(call, peer, id)
    if (!target) return refuseNoSuchItem()
    const approval = parseRelease(releaseApproval, signature)
    if (!approval) return refuseUnreadable()
    const approver = requireOwnSignature(await verifyRelease(call, approval, signature, target), call.caller.subject)
    if (isRefusal(approver)) return approver
    const requested = await loadRequest(call, target)
    if (isRefusal(requested)) return requested
    const objection = checkApprovalPair([requested.request, requested.requester], [approval, approver])
    if (objection) return objection
    const { waiver, digests, label } = approval
    const detail = {
      ...{ waiver, digests, reason: approval.reason, requested_by: requested.requester.subject },
      ...(label ? { named_label: label } : {}),
      ...{ request: requested.pending.signature, approval: signature },
    }
    const event = call.audited('site.quarantine.approve', target.item, detail, label)
    // The request stays until it expires: it names this item, which does not exist any more after the release.
    const refusal = await custodyOf(call).release(peer, { id, waiver, digests, label }, [event])
    return refusal ?? { released: target.item }
  },
})

/** Verifies the request again in full: the requester's enrolment or the files may have changed since. */
async function loadRequest(call: Call, target: ReleaseTarget) {
  const { release: pending, is_release_withheld } = await findPendingRelease(call, target.item)
  if (is_release_withheld) return refuseNotCleared()
  const request = pending && parseRelease(releaseRequest, pending.signature)
  if (!pending || !request) return refuse('conflict', 'nobody has requested the release of this item; request it first')
  const requester = await verifyRelease(call, request, pending.signature, target)
  if (isRefusal(requester)) return refuseStaleRequest(requester)
  return { pending, request, requester }
}

/** The request has become invalid; the approval itself has no fault. */
function refuseStaleRequest({ message }: Refusal): Refusal {
  return refuse('conflict', `the request is no longer valid: ${message}; request the release again`)
}
