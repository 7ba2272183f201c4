// Who may release what: two people, each by their own key, for the very bytes that lie there, and only what can be waived.
import { canonical, sha384 } from '../../../kernel/canonical.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { NotVerified, Verified } from '../../../kernel/keys.ts'
import type { Label, LabelPolicy } from '../../../kernel/label.ts'
import type { Person } from '../../../kernel/person.ts'
import {
  type Release,
  type ReleaseApproval,
  type ReleaseRequest,
  releasePayload,
  waivable,
} from '../../../kernel/release.ts'

/** What lies in quarantine, as far as a release is about it. */
export type Held = {
  /** `<peer>/<id>` */
  readonly item: string
  readonly reason: string
  /** SHA-384 of its files, body first; empty when it is not the two files of a message. */
  readonly digests: readonly string[]
  /** The peer's, as pinned; undefined when it is not pinned any more. */
  readonly sender_tenant_id: string | undefined
}

export type Here = {
  readonly site: string
  readonly labels: LabelPolicy
  /** Epoch milliseconds. */
  readonly now: number
  readonly skew_ms: number
  /** How long a request waits for a second person. */
  readonly ends_after_ms: number
}

export type Signer = { readonly subject: string; readonly fingerprint: string }

/** Everybody's keys, those revoked too, so that a signature by one says so. */
export function keysOf(people: readonly Person[]) {
  return people.flatMap(({ keys }) => keys)
}

/** The person whose signature it is. Refuses `signature_invalid` for a signature that does not count. */
export function signerOf(said: Release, found: Verified | NotVerified, people: readonly Person[]): Signer | Refused {
  if (typeof found === 'string') return refuse('signature_invalid', outcomes[found])
  const [key, another] = found.keys
  const person = people.find(({ keys }) => keys.some(({ fingerprint }) => fingerprint === key?.fingerprint))
  if (!key || another || !person || key.status !== 'active') {
    return refuse('signature_invalid', 'it is not the signature of one enrolled person')
  }
  if (person.subject !== said.subject) return refuse('signature_invalid', 'the key is not that of the subject it names')
  const end = key.not_after === undefined ? undefined : Date.parse(key.not_after)
  if (end !== undefined && Date.parse(said.created) > end) {
    return refuse('signature_invalid', 'the key signed it after its own end')
  }
  return { subject: person.subject, fingerprint: key.fingerprint }
}

const outcomes: Readonly<Record<NotVerified, string>> = {
  bad_signature: 'the signature does not hold',
  unknown_key: 'no enrolled person signed it',
  key_revoked: 'the key that signed it is revoked',
}

/** Why what was signed does not fit what lies there, or does not count now; undefined when it does. */
export function objection(said: Release, held: Held, here: Here): Refused | undefined {
  if (said.site !== here.site || said.item !== held.item) {
    return refuse('signature_invalid', 'it was signed for another site or item')
  }
  if (!waivable.safeParse(held.reason).success) return refuse('conflict', `${held.reason} cannot be waived by anybody`)
  if (said.waiver !== held.reason) return refuse('conflict', `the item lies there for ${held.reason}`)
  if (held.digests.length !== 2) return refuse('conflict', 'the item does not hold both files of a message')
  if (held.digests.join() !== said.digests.join()) {
    return refuse('conflict', 'the files are not those that were signed for')
  }
  return timeObjection(said, here) ?? labelObjection(said, held, here.labels)
}

function timeObjection({ created }: Release, { now, skew_ms, ends_after_ms }: Here): Refused | undefined {
  const made = Date.parse(created)
  if (made > now + skew_ms) return refuse('conflict', 'it was signed in the future: look at the clocks')
  return now >= made + ends_after_ms ? refuse('conflict', 'it was signed too long ago') : undefined
}

function labelObjection({ waiver, label }: Release, held: Held, labels: LabelPolicy): Refused | undefined {
  if (waiver !== 'LABEL_MISSING' && waiver !== 'LABEL_DENIED') {
    return label ? refuse('invalid', `a release for ${waiver} names no label`) : undefined
  }
  if (!label) {
    return waiver === 'LABEL_MISSING' ? refuse('invalid', 'the release must name the label to carry') : undefined
  }
  return isOfThisSite(label, held, labels)
    ? undefined
    : refuse('invalid', 'the label is not of this site’s policy, or not the sender’s')
}

function isOfThisSite({ policy, level, originator }: Label, { sender_tenant_id }: Held, labels: LabelPolicy): boolean {
  return policy === labels.policy && labels.levels.includes(level) && originator === sender_tenant_id
}

/** Why the approval does not complete the request; undefined when it does. Both have been verified. */
export function pairObjection(
  [request, requester]: readonly [ReleaseRequest, Signer],
  [approval, approver]: readonly [ReleaseApproval, Signer],
): Refused | undefined {
  if (requester.subject === approver.subject || requester.fingerprint === approver.fingerprint) {
    return refuse('forbidden', 'a request is approved by another person, with another key')
  }
  const { step: _step, reason: _reason, subject: _subject, created: _created, ...asked } = request
  const { step: _s, reason: _r, subject: _u, created: _c, request: named, ...granted } = approval
  if (named !== sha384(releasePayload(request))) return refuse('conflict', 'the approval is for another request')
  return canonical(asked) === canonical(granted) ? undefined : refuse('conflict', 'the approval grants something else')
}

/** Says that there is a label, and nothing of it. */
export function notCleared(): Refused {
  return refuse('forbidden', 'it is to be released under a label that the caller is not cleared for')
}

/** A person acts under their own name alone. */
export function ownSignature(signer: Signer | Refused, caller_subject: string): Signer | Refused {
  if (isRefused(signer) || signer.subject === caller_subject) return signer
  return refuse('forbidden', 'the signature is not that of the caller')
}
