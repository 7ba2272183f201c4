// Verifies the signature that a contributor gives with a contribution, before the contribution enters its session.
import { isRefusal, type Refusal, refuse } from '../../../../../kernel/error/errors.ts'
import type { Label } from '../../../../../kernel/label/label.ts'
import type { Call } from '../../../../../kernel/operation/call.ts'
import { verifyContributorSignature } from '../../../../../shared/contributor-signature/contributor-signature.ts'
import type { Contribution } from '../model.ts'
import type { ContributionProof, ContributorSignature } from './model.ts'
import { attachContribution } from './signed-contribution.ts'

/** How far the clock of the contributor's machine may run ahead. */
const skew_ms = 900_000

type SignedOpinion = Pick<
  Contribution,
  'accuracy' | 'contributor_id' | 'credibility' | 'pair_score' | 'signer_key_id'
> & { readonly classification: Label }

/** The proof to store. Refuses `signature_invalid`. `opinion`: with the whole label, which the signature covers. */
export async function verifyContributor(
  call: Call,
  session_id: string,
  opinion: SignedOpinion,
  signature: ContributorSignature,
  speakers: readonly string[],
): Promise<ContributionProof | Refusal> {
  const { contributor_id, signer_key_id } = opinion
  if (Date.parse(signature.created) > call.now() + skew_ms)
    return refuse('signature_invalid', `the contribution was signed in the future: ${signature.created}`)
  const envelope = attachContribution(session_id, opinion, signature)
  const subjects = [...new Set([contributor_id, ...speakers])]
  const verified = await verifyContributorSignature(call, subjects, signature.created, envelope)
  if (isRefusal(verified)) return verified
  return verified.kid === signer_key_id
    ? { type: 'signature', ...signature }
    : refuse('signature_invalid', 'another key signed than the contribution names')
}
