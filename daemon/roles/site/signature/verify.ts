// Verifies the signature of an enrolled person over a contribution to a session.
import { hasKeyEnded } from '../../../kernel/cryptography/counting-signers.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { verifyPersonalSignature } from '../../../shared/contributor-signature/contributor-signature.ts'
import { peoplePart, signaturesPart } from '../parts.ts'

export const verify = operation({
  summary: 'Verify the signature of an enrolled person over a contribution',
  method: 'POST',
  path: '/api/v2/site/signature/verify',
  input: verifyPersonalSignature.input,
  output: verifyPersonalSignature.output,
  errors: ['signature_invalid'],
  allow: 'message:verify',

  async run(call, { subjects, created, envelope }) {
    const people = (await call.part(peoplePart).list()).filter(({ subject }) => subjects.includes(subject))
    const pinned = people.flatMap(({ keys }) => keys)
    const verified = await call.part(signaturesPart).verify('contribution', envelope, pinned)
    if (typeof verified === 'string')
      return refuseSignature('no enrolled key of the contributor has signed this content')
    const [key, secondKey] = verified.keys
    const person = people.find(({ keys }) => keys.some(({ fingerprint }) => fingerprint === key?.fingerprint))
    if (!key || secondKey || !person) return refuseSignature('exactly one person must sign a contribution')
    if (key.status !== 'active' || hasKeyEnded(key, Date.parse(created)))
      return refuseSignature('the key of the contributor had ended when it signed')
    return { subject: person.subject, kid: key.kid, fingerprint: key.fingerprint }
  },
})

function refuseSignature(detail: string): Refusal {
  return refuse('signature_invalid', detail)
}
