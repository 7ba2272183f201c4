// Verifies the signature of an enrolled person over a contribution to a session, or over a decision about guidance.
import type { SoleSignerFault } from '../../../kernel/cryptography/counting-signers.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { verifyPersonalSignature } from '../../../shared/contributor-signature/contributor-signature.ts'
import { peoplePart, signaturesPart } from '../parts.ts'
import { findPersonalSigner } from './rules.ts'

export const verify = operation({
  summary: 'Verify the signature of an enrolled person over a contribution or a decision',
  method: 'POST',
  path: '/api/v2/site/signature/verify',
  input: verifyPersonalSignature.input,
  output: verifyPersonalSignature.output,
  errors: ['signature_invalid'],
  allow: 'message:verify',

  async run(call, { subjects, created, envelope, type }) {
    const people = (await call.part(peoplePart).list()).filter(({ subject }) => subjects.includes(subject))
    const pinned = people.flatMap(({ keys }) => keys)
    const verified = await call.part(signaturesPart).verify(type, envelope, pinned)
    const signer = findPersonalSigner(verified, created, people)
    if (typeof signer === 'string') return refuse('signature_invalid', signerFaults[signer])
    const { person, key } = signer
    return { subject: person.subject, kid: key.kid, fingerprint: key.fingerprint }
  },
})

const no_valid_signature = 'no enrolled key of this person has signed this content'
const signerFaults: Readonly<Record<SoleSignerFault, string>> = {
  bad_signature: no_valid_signature,
  unknown_key: no_valid_signature,
  key_revoked: no_valid_signature,
  key_ended: 'the key of this person had ended when it signed',
  not_one: 'exactly one person must sign this',
}
