// The proof of a contribution: the signed message of its sender, or the signature of the contributor.
import * as z from 'zod'
import { jws } from '../../../../../kernel/cryptography/signatures.ts'
import { label } from '../../../../../kernel/label/label.ts'
import { collection } from '../../../../../kernel/store/store.ts'

/** One signature of a JWS whose payload follows from the contribution that it covers. */
export const contributorSignature = z
  .strictObject({
    created: z.iso.datetime().meta({ description: 'When the contributor signed; part of the signed content' }),
    protected: z.base64url().max(2_048).meta({ description: 'Protected header: alg, kid, typ' }),
    signature: z.base64url().max(8_192),
  })
  .meta({
    id: 'ContributorSignature',
    description: 'JWS with detached content (RFC 7515, appendix F) over the canonical contribution',
  })
export type ContributorSignature = z.infer<typeof contributorSignature>

export const contributionProof = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    envelope: jws.meta({ description: 'The message of the sender as it arrived' }),
    body: z.string().meta({ description: 'The exact text of its body' }),
  }),
  z.strictObject({ type: z.literal('signature'), ...contributorSignature.shape }),
])
export type ContributionProof = z.infer<typeof contributionProof>

/** Written once, before the contribution enters its session; a crash in between leaves a proof that nothing names. */
export const contributionProofs = collection({
  name: 'contribution_proof',
  schema: z.strictObject({ tenant_id: z.string(), label, session_id: z.string(), proof: contributionProof }),
  // Found by id alone.
  indexes: [],
})
