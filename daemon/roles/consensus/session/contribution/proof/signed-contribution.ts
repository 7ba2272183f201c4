// The content that a contributor signs, and the JWS that it belongs to.
import type { Jws } from '../../../../../kernel/cryptography/signatures.ts'
import { canonicalJson } from '../../../../../kernel/encoding/canonical-json.ts'
import type { Contribution } from '../model.ts'
import type { ContributorSignature } from './model.ts'

type SignedContribution = Pick<
  Contribution,
  'accuracy' | 'classification' | 'contributor_id' | 'credibility' | 'pair_score'
> & { readonly session_id: string; readonly created: string }

/** The bytes to sign, as text: a contribution to one session, so that it proves nothing in another. */
export function contributionPayload(signed: SignedContribution): string {
  const { accuracy, classification, contributor_id, created, credibility, pair_score, session_id } = signed
  const content = { accuracy, classification, contributor_id, created, credibility, pair_score, session_id }
  return canonicalJson({ v: 1, type: 'platform.contribution', ...content })
}

/** The whole JWS of a detached signature over this contribution. */
export function attachContribution(
  session_id: string,
  contribution: Omit<SignedContribution, 'session_id' | 'created'>,
  { created, protected: header, signature }: ContributorSignature,
): Jws {
  const payload = Buffer.from(contributionPayload({ ...contribution, session_id, created })).toString('base64url')
  return { payload, signatures: [{ protected: header, signature }] }
}
