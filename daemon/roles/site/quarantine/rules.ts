// Rules of a release: two people sign, each with their own key, for the exact files, and only for a reason that can be waived.

import type { VerificationFailure, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Person } from '../../../kernel/identity/person.ts'
import type { Label, LabelPolicy } from '../../../kernel/label/label.ts'
import {
  type Release,
  type ReleaseApproval,
  type ReleaseRequest,
  releasePayload,
  waivableReason,
} from '../../../kernel/messaging/release.ts'

/** The quarantined item that a release is about. */
export type ReleaseTarget = {
  /** `<peer>/<id>` */
  readonly item: string
  readonly reason: string
  /** SHA-384 of its files, body first; empty when it is not the two files of a message. */
  readonly digests: readonly string[]
  /** The peer's, as pinned; undefined when it is not pinned any more. */
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

/** The person whose signature it is. Refuses `signature_invalid` for a signature that does not count. */
export function identifySigner(
  release: Release,
  found: VerifiedPayload | VerificationFailure,
  people: readonly Person[],
): ReleaseSigner | Refusal {
  if (typeof found === 'string') return refuse('signature_invalid', signatureFaults[found])
  const [key, another] = found.keys
  const person = people.find(({ keys }) => keys.some(({ fingerprint }) => fingerprint === key?.fingerprint))
  if (!key || another || !person || key.status !== 'active') {
    return refuse('signature_invalid', 'it is not the signature of one enrolled person')
  }
  if (person.subject !== release.subject)
    return refuse('signature_invalid', 'the key is not that of the subject it names')
  const end = key.not_after === undefined ? undefined : Date.parse(key.not_after)
  if (end !== undefined && Date.parse(release.created) > end) {
    return refuse('signature_invalid', 'the key signed it after its own end')
  }
  return { subject: person.subject, fingerprint: key.fingerprint }
}

const signatureFaults: Readonly<Record<VerificationFailure, string>> = {
  bad_signature: 'the signature is not valid for the signed content',
  unknown_key: 'no enrolled person signed it',
  key_revoked: 'the key that signed it is revoked',
}

/** Refuses a release that does not fit the item, or that is not valid now; undefined when it holds. */
export function checkRelease(release: Release, target: ReleaseTarget, here: ReleaseContext): Refusal | undefined {
  if (release.site !== here.site || release.item !== target.item) {
    return refuse('signature_invalid', 'it was signed for another site or item')
  }
  if (!waivableReason.safeParse(target.reason).success)
    return refuse('conflict', `${target.reason} cannot be waived by anybody`)
  if (release.waiver !== target.reason)
    return refuse('conflict', `the item is in quarantine for ${target.reason}, not for ${release.waiver}`)
  if (target.digests.length !== 2) return refuse('conflict', 'the item does not hold both files of a message')
  if (target.digests.join() !== release.digests.join()) {
    return refuse('conflict', 'the files are not those that were signed for')
  }
  return checkReleaseTime(release, here) ?? checkReleaseLabel(release, target, here.labels)
}

function checkReleaseTime(
  { created }: Release,
  { now, skew_ms, request_lifetime_ms }: ReleaseContext,
): Refusal | undefined {
  const made = Date.parse(created)
  if (made > now + skew_ms) return refuse('conflict', 'it was signed in the future: check the clocks of both machines')
  return now >= made + request_lifetime_ms ? refuse('conflict', 'it was signed too long ago') : undefined
}

function checkReleaseLabel(
  { waiver, label }: Release,
  target: ReleaseTarget,
  labels: LabelPolicy,
): Refusal | undefined {
  if (waiver !== 'LABEL_MISSING' && waiver !== 'LABEL_DENIED') {
    return label ? refuse('invalid', `a release for ${waiver} names no label`) : undefined
  }
  if (!label) {
    return waiver === 'LABEL_MISSING' ? refuse('invalid', 'the release must name the label to carry') : undefined
  }
  return isOfThisSite(label, target, labels)
    ? undefined
    : refuse('invalid', 'the label is not of this site’s policy, or not the sender’s')
}

function isOfThisSite(
  { policy, level, originator }: Label,
  { sender_tenant_id }: ReleaseTarget,
  labels: LabelPolicy,
): boolean {
  return policy === labels.policy && labels.levels.includes(level) && originator === sender_tenant_id
}

/** Why the approval does not complete the request; undefined when it does. Both have been verified. */
export function checkApprovalPair(
  [request, requester]: readonly [ReleaseRequest, ReleaseSigner],
  [approval, approver]: readonly [ReleaseApproval, ReleaseSigner],
): Refusal | undefined {
  if (requester.subject === approver.subject || requester.fingerprint === approver.fingerprint) {
    return refuse('forbidden', 'a request is approved by another person, with another key')
  }
  const { step: _step, reason: _reason, subject: _subject, created: _created, ...requested } = request
  const { step: _s, reason: _r, subject: _u, created: _c, request: named, ...granted } = approval
  if (named !== sha384(releasePayload(request))) return refuse('conflict', 'the approval is for another request')
  return canonicalJson(requested) === canonicalJson(granted)
    ? undefined
    : refuse('conflict', 'the approval grants something else')
}

/** Discloses that there is a label, but not which. */
export function refuseNotCleared(): Refusal {
  return refuse('forbidden', 'it is to be released under a label that the caller is not cleared for')
}

/** A person may only act under their own name. */
export function requireOwnSignature(signer: ReleaseSigner | Refusal, caller_subject: string): ReleaseSigner | Refusal {
  if (isRefusal(signer) || signer.subject === caller_subject) return signer
  return refuse('forbidden', 'the signature is not that of the caller')
}
