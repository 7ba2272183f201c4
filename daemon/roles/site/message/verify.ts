// Verifies a peer's signature against the keys pinned at its enrolment.
import type { Call } from '../../../kernel/call.ts'
import { refuse } from '../../../kernel/errors.ts'
import type { Jws, SignatureType } from '../../../kernel/keys.ts'
import { operation } from '../../../kernel/operation.ts'
import { peersPart, recentlyVerifiedPart, signaturesPart } from '../parts.ts'
import { verification, verifiedMessage } from './model.ts'

export const verify = operation({
  summary: 'Verify a signed message of a peer',
  method: 'POST',
  path: '/api/v2/site/message/verify',
  input: verification,
  output: verifiedMessage,
  errors: ['signature_invalid'],
  allow: 'message:verify',
  max_body_bytes: 1_048_576,

  async run(call, { peer, type, envelope }) {
    const found = await judged(call, peer, type, envelope)
    if (typeof found === 'string')
      return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
    return { payload: Buffer.from(found.payload).toString('base64url'), keys: [...found.keys] }
  },
})

async function judged(call: Call, name: string, type: SignatureType, envelope: Jws) {
  const recent = call.part(recentlyVerifiedPart).find(name, type, envelope)
  if (recent) return recent
  const pinned = await call.part(peersPart).get(name)
  if (!pinned) return 'unknown_key'
  const found = await call.part(signaturesPart).verify(type, envelope, pinned.keys)
  return typeof found === 'string' || found.keys.length >= pinned.threshold ? found : 'unknown_key'
}
