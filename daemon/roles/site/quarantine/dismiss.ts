// Dismisses an item of the quarantine. One that two people could release takes the signatures of two to dismiss.
import * as z from 'zod'
import type { Jws } from '../../../kernel/cryptography/signatures.ts'
import { sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import {
  type DismissalApproval,
  type DismissalRequest,
  dismissalApproval,
  dismissalRequest,
  parseRelease,
  personalSignature,
  releasePayload,
} from '../../../kernel/messaging/release.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { custodyOf } from '../custody.ts'
import { type QuarantineFiles, quarantinesPart } from '../parts.ts'
import { findPendingDismissal } from './find-pending-release.ts'
import { dismissalRequests, itemFields, pendingDismissal } from './model.ts'
import { checkApprovalPair, isReleasable, type ReleaseTarget, requireOwnSignature } from './rules.ts'
import {
  loadReleaseTarget,
  refuseNoSuchItem,
  refuseUnreadable,
  requestExpiry,
  verifyRelease,
} from './verify-release.ts'

const dismissalOutcome = z
  .discriminatedUnion('state', [
    z.strictObject({ state: z.literal('dismissed'), item: z.string() }),
    z.strictObject({ state: z.literal('requested'), item: z.string(), dismissal: pendingDismissal }),
  ])
  .meta({ id: 'DismissalOutcome', description: 'Whether the item is gone, or a second person has to sign' })
type DismissalOutcome = z.infer<typeof dismissalOutcome>

export const dismiss = operation({
  summary: 'Remove an item from quarantine for good, with a reason that stays in the audit chain',
  method: 'POST',
  path: '/api/v2/site/quarantine/{peer}/{id}/dismiss',
  input: z.strictObject({
    ...itemFields,
    reason: requiredText(1_000),
    signature: personalSignature.optional().meta({
      description: 'Of a request or an approval; required for an item that two people could release',
    }),
  }),
  output: dismissalOutcome,
  errors: ['not_found', 'signature_invalid', 'conflict', 'unavailable'],
  allow: 'quarantine:dismiss',

  async run(call, { peer, id, reason, signature }) {
    const target = await loadReleaseTarget(call, peer, id)
    if (!target) return refuseNoSuchItem()
    if (signature) return await decideSigned(call, { peer, id, reason }, target, signature)
    if (isReleasable(target))
      return refuse(
        'conflict',
        'two people could release this item: each of two must sign its dismissal with their key',
      )
    return await removeItem(call, { peer, id }, { reason })
  },
})

type ItemName = { readonly peer: string; readonly id: string }

/** A request waits for a second person; an approval by another person removes the item. */
async function decideSigned(
  call: Call,
  { reason, ...name }: ItemName & { readonly reason: string },
  target: ReleaseTarget,
  signature: Jws,
): Promise<DismissalOutcome | Refusal> {
  const decision = parseRelease(dismissalRequest, signature) ?? parseRelease(dismissalApproval, signature)
  if (!decision) return refuseUnreadable()
  if (decision.reason !== reason) return refuse('conflict', 'the reason differs from the one that was signed')
  const signer = requireOwnSignature(await verifyRelease(call, decision, signature, target), call.caller.subject)
  if (isRefusal(signer)) return signer
  if (decision.step === 'request') return await storeRequest(call, decision, signature)
  const { dismissal } = await findPendingDismissal(call, target.item)
  const request = dismissal && parseRelease(dismissalRequest, dismissal.signature)
  if (!dismissal || !request)
    return refuse('conflict', 'nobody has requested the dismissal of this item; request it first')
  // Verified again in full: the requester's enrolment or the files may have changed since.
  const requester = await verifyRelease(call, request, dismissal.signature, target)
  if (isRefusal(requester))
    return refuse('conflict', `the request is no longer valid: ${requester.message}; request the dismissal again`)
  const objection = checkApprovalPair([request, requester], [decision, signer])
  if (objection) return objection
  return await removeItem(call, name, signedDetail(decision, requester.subject, dismissal.signature, signature))
}

function signedDetail({ reason }: DismissalApproval, requested_by: string, request: Jws, approval: Jws) {
  return { reason, requested_by, request, approval }
}

/** A repeat changes nothing; a different request replaces the previous one. */
async function storeRequest(call: Call, decision: DismissalRequest, signature: Jws): Promise<DismissalOutcome> {
  const { item, reason, subject, created, digests } = decision
  const expires_ts = requestExpiry(call, decision)
  const digest = sha384(releasePayload(decision))
  const dismissal = { subject, reason, created, ends: new Date(expires_ts).toISOString(), digest, signature }
  const event = call.audited('site.quarantine.dismissal_requested', item, { digests, reason, signature })
  const next = { tenant_id: call.site.tenant_id, ...dismissal, expires_ts }
  const store = call.store(dismissalRequests)
  if ((await store.create(item, next, [event])) === 'exists')
    await store.update(item, ({ value }) =>
      value.digest === digest ? { answer: undefined } : { answer: undefined, next, audit: [event] },
    )
  return { state: 'requested', item, dismissal }
}

/** The audit record keeps what the item was, down to the digests of its files. */
async function removeItem(
  call: Call,
  { peer, id }: ItemName,
  decision: Readonly<Record<string, unknown>>,
): Promise<DismissalOutcome | Refusal> {
  const item = await call.part(quarantinesPart).get(peer, id)
  if (!item) return refuseNoSuchItem()
  const event = call.audited('site.quarantine.dismiss', item.id, { ...describeItem(item), ...decision })
  return (await custodyOf(call).dismiss(peer, id, [event])) ?? { state: 'dismissed', item: item.id }
}

function describeItem({ reason: quarantined_for, detail, code, msg_id, digest, files }: QuarantineFiles) {
  return {
    quarantined_for,
    detail,
    ...(code === undefined ? {} : { code }),
    ...(msg_id === undefined ? {} : { msg_id }),
    ...(digest === undefined ? {} : { statement_digest: digest }),
    files: files.slice(0, max_audited_files).map(({ was, bytes, sha384: digest_of_file }) => ({
      was,
      bytes,
      ...(digest_of_file === undefined ? {} : { sha384: digest_of_file }),
    })),
  }
}

/** A message has two; only copies of contradicting envelopes can be more. */
const max_audited_files = 20
