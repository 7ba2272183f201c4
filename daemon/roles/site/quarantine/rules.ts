// Rules of a release and of a dismissal: two people sign, each with their own key, for the exact files; a release needs a reason
// that can be waived.

import type { SoleSignerFault } from '../../../kernel/cryptography/counting-signers.ts'
import type { VerificationFailure, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Person } from '../../../kernel/identity/person.ts'
import type { Label, LabelPolicy } from '../../../kernel/label/label.ts'
import {
  type DecisionApproval,
  type DecisionRequest,
  findReleaseFault,
  type PersonalDecision,
  type Release,
  releasePayload,
  waivableReason,
} from '../../../kernel/messaging/release.ts'
import { findPersonalSigner } from '../signature/rules.ts'

/** The quarantined item to decide about. */
export type ReleaseTarget = {
  /** The item as `<peer>/<id>`. */
  readonly item: string
  readonly reason: string
  /** SHA-384 of its files, body first; empty when it is not the two files of a message. */
  readonly digests: readonly string[]
  /** Tenant of the peer, as pinned; undefined when the peer is not pinned any more. */
  readonly sender_tenant_id: string | undefined
}

export type ReleaseContext = {
  readonly site: string
  readonly labels: LabelPolicy
  /** Epoch milliseconds. */
  readonly now: number
  readonly skew_ms: number
  /** How long a request waits for a second person. */
  readonly request_lifetime_ms: number
}

export type ReleaseSigner = { readonly subject: string; readonly fingerprint: string }

/** The keys of all people, revoked ones included, so that a signature by a revoked key is reported as such. */
export function keysOf(people: readonly Person[]) {
  return people.flatMap(({ keys }) => keys)
}

/** The person who signed. Refuses `signature_invalid` for an invalid signature. */
export function identifySigner(
  decision: PersonalDecision,
  verification: VerifiedPayload | VerificationFailure,
  people: readonly Person[],
): ReleaseSigner | Refusal {
  const signer = findPersonalSigner(verification, decision.created, people)
  if (typeof signer === 'string') return refuse('signature_invalid', signerFaults[signer])
  const { person, key } = signer
  if (person.subject !== decision.subject)
    return refuse('signature_invalid', 'the key does not belong to the subject that the signed content names')
  return { subject: person.subject, fingerprint: key.fingerprint }
}

const signerFaults: Readonly<Record<SoleSignerFault, string>> = {
  bad_signature: 'the signature is not valid for the signed content',
  unknown_key: 'no enrolled person signed this',
  key_revoked: 'the key that signed this is revoked',
  key_ended: 'the key signed this after the key expired',
  not_one: 'exactly one enrolled person must sign this',
}

/** Whether two people could release the item; then it takes two to dismiss it as well. */
export function isReleasable({ reason, digests, sender_tenant_id }: ReleaseTarget): boolean {
  return waivableReason.safeParse(reason).success && digests.length === 2 && sender_tenant_id !== undefined
}

/** Refuses a decision that does not match the item, or that is not valid now; undefined when it is valid. */
export function checkDecision(
  decision: PersonalDecision,
  target: ReleaseTarget,
  context: ReleaseContext,
): Refusal | undefined {
  if (decision.site !== context.site || decision.item !== target.item) {
    return refuse('signature_invalid', 'this was signed for another site or item')
  }
  if (decision.type === 'platform.dismissal') return checkFiles(decision, target) ?? checkSigningTime(decision, context)
  if (!waivableReason.safeParse(target.reason).success) return refuse('conflict', `${target.reason} cannot be waived`)
  if (decision.waiver !== target.reason)
    return refuse('conflict', `the item is in quarantine for ${target.reason}, not for ${decision.waiver}`)
  return (
    checkFiles(decision, target) ??
    checkSigningTime(decision, context) ??
    checkReleaseLabel(decision, target, context.labels)
  )
}

function checkFiles({ digests }: PersonalDecision, target: ReleaseTarget): Refusal | undefined {
  if (target.digests.length !== 2) return refuse('conflict', 'the item does not hold both files of a message')
  return target.digests.join() === digests.join()
    ? undefined
    : refuse('conflict', 'the files differ from the signed digests')
}

function checkSigningTime(
  { created }: PersonalDecision,
  { now, skew_ms, request_lifetime_ms }: ReleaseContext,
): Refusal | undefined {
  const created_ms = Date.parse(created)
  if (created_ms > now + skew_ms)
    return refuse('conflict', 'this was signed in the future: check the clocks of both machines')
  return now >= created_ms + request_lifetime_ms
    ? refuse('conflict', 'this was signed too long ago: request it again')
    : undefined
}

function checkReleaseLabel(release: Release, target: ReleaseTarget, labels: LabelPolicy): Refusal | undefined {
  const fault = findReleaseFault(release)
  if (fault) return refuse('invalid', fault)
  return !release.label || isOfThisSite(release.label, target, labels)
    ? undefined
    : refuse('invalid', 'the label must be of this site’s policy, with the sender as originator')
}

function isOfThisSite(
  { policy, level, originator }: Label,
  { sender_tenant_id }: ReleaseTarget,
  labels: LabelPolicy,
): boolean {
  return policy === labels.policy && labels.levels.includes(level) && originator === sender_tenant_id
}

/** The refusal of an approval that does not complete the request; undefined when it does. Both have been verified. */
export function checkApprovalPair(
  [request, requester]: readonly [DecisionRequest, ReleaseSigner],
  [approval, approver]: readonly [DecisionApproval, ReleaseSigner],
): Refusal | undefined {
  if (requester.subject === approver.subject || requester.fingerprint === approver.fingerprint) {
    return refuse(
      'forbidden',
      `${requester.subject} requested this; another enrolled person must approve, with their own token and key`,
    )
  }
  const { step: _step, reason: _reason, subject: _subject, created: _created, ...requested } = request
  const { step: _s, reason: _r, subject: _u, created: _c, request: named_digest, ...granted } = approval
  if (named_digest !== sha384(releasePayload(request))) return refuse('conflict', 'the approval is for another request')
  return canonicalJson(requested) === canonicalJson(granted)
    ? undefined
    : refuse('conflict', 'the approval differs from the request')
}

/** Refuses a caller without clearance. Discloses that the release has a label, but not which one. */
export function refuseNotCleared(): Refusal {
  return refuse('forbidden', 'the release is under a label that the caller is not cleared for')
}

/** A person may only act under their own name. */
export function requireOwnSignature(signer: ReleaseSigner | Refusal, caller_subject: string): ReleaseSigner | Refusal {
  if (isRefusal(signer) || signer.subject === caller_subject) return signer
  return refuse(
    'forbidden',
    `the signature is that of ${signer.subject}, and the token that of ${caller_subject}; use the token of the person who signs`,
  )
}
