// Approves the release of a quarantined message: a second person signs, and it is taken in once more.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import { operation } from '../../../kernel/operation.ts'
import { releaseApproval, releaseIn, releaseRequest } from '../../../kernel/release.ts'
import { custodyOf } from '../custody.ts'
import { heldAt, judged, noSuchItem, unreadable } from './judging.ts'
import { itemFields, personalSignature } from './model.ts'
import { pendingOf } from './pending.ts'
import { type Held, notCleared, ownSignature, pairObjection } from './rules.ts'

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
    const held = await heldAt(call, peer, id)
    if (!held) return noSuchItem()
    const approval = releaseIn(releaseApproval, signature)
    if (!approval) return unreadable()
    const approver = ownSignature(await judged(call, approval, signature, held), call.caller.subject)
    if (isRefused(approver)) return approver
    const asked = await requested(call, held)
    if (isRefused(asked)) return asked
    const objection = pairObjection([asked.request, asked.requester], [approval, approver])
    if (objection) return objection
    const { waiver, digests, label } = approval
    const detail = {
      ...{ waiver, digests, reason: approval.reason, requested_by: asked.requester.subject },
      ...(label ? { named_label: label } : {}),
      ...{ request: asked.pending.signature, approval: signature },
    }
    const event = call.audited('site.quarantine.approve', held.item, detail, label)
    // The request stays until its time is over: it is for this item, which is gone when this is done.
    const refused = await custodyOf(call).release(peer, { id, waiver, digests, label }, [event])
    return refused ?? { released: held.item }
  },
})

/** Judged again in full: a person may have been let go since, and the files may be others. */
async function requested(call: Call, held: Held) {
  const { release: pending, is_release_withheld } = await pendingOf(call, held.item)
  if (is_release_withheld) return notCleared()
  const request = pending && releaseIn(releaseRequest, pending.signature)
  if (!pending || !request) return refuse('conflict', 'nobody has requested the release of this item')
  const requester = await judged(call, request, pending.signature, held)
  if (isRefused(requester)) return stale(requester)
  return { pending, request, requester }
}

/** It is the request that does not count any more: nothing is wrong with the approval. */
function stale({ message }: Refused): Refused {
  return refuse('conflict', `the request does not count any more: ${message}`)
}
