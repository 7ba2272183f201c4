// Verifying the signature of a person over a contribution or a decision: contract of the site role, which knows the enrolled people.
import * as z from 'zod'
import { type Jws, jws, publicKey } from '../../kernel/cryptography/signatures.ts'
import type { Refusal } from '../../kernel/error/errors.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { operationContract } from '../../kernel/operation/operation-contract.ts'

const personalSignature = z
  .strictObject({
    subject: z.string().meta({ description: 'The person whose key signed' }),
    kid: publicKey.shape.kid,
    fingerprint: publicKey.shape.fingerprint,
  })
  .meta({ id: 'PersonalSignature' })
export type PersonalSignature = z.infer<typeof personalSignature>

/** A signature for one purpose is none for another. */
const personalSignatureType = z.enum(['contribution', 'guidance-decision'])

export const verifyPersonalSignature = operationContract({
  address: 'site.signature.verify',
  input: z.strictObject({
    subjects: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(65)
      .meta({ description: 'People of whom one must have signed' }),
    created: z.iso.datetime().meta({ description: 'When the content was signed, as the content states' }),
    envelope: jws,
    type: personalSignatureType.default('contribution').meta({ description: 'Purpose of the signature' }),
  }),
  output: personalSignature,
})

/** Verifies the signature over a contribution by the enrolled key of one of these people. Refuses `signature_invalid`. */
export async function verifyContributorSignature(
  { roles }: Call,
  subjects: readonly string[],
  created: string,
  envelope: Jws,
): Promise<PersonalSignature | Refusal> {
  return await roles.request(verifyPersonalSignature, { subjects, created, envelope })
}

/** Verifies the signature of this enrolled person over a decision about a set of artifacts. Refuses `signature_invalid`. */
export async function verifyGuidanceDecision(
  { roles }: Call,
  subject: string,
  created: string,
  envelope: Jws,
): Promise<PersonalSignature | Refusal> {
  return await roles.request(verifyPersonalSignature, {
    subjects: [subject],
    created,
    envelope,
    type: 'guidance-decision',
  })
}
