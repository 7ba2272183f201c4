// Verifies a peer's message: the signature by its pinned keys, and the statement's sender, addressee, time and label.

import type { Jws, SignatureType, VerifiedPayload } from '../../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Peer } from '../../../kernel/identity/peer.ts'
import type { Label } from '../../../kernel/label/label.ts'
import { parseStatement } from '../../../kernel/messaging/statement-format.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { verifyPeerMessage } from '../../../shared/site-message/site-message.ts'
import { carrierOf } from '../carrier-settings.ts'
import { peersPart, signaturesPart, verifiedMessageCachePart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import { acceptStatement, isSignedInKeyLifetime } from './rules.ts'

export const verify = operation({
  summary: 'Verify a signed message of a peer',
  method: 'POST',
  path: '/api/v2/site/message/verify',
  input: verifyPeerMessage.input,
  output: verifyPeerMessage.output,
  errors: ['signature_invalid', 'label_denied'],
  allow: 'message:verify',
  max_body_bytes: 1_048_576,

  async run(call, { peer: name, type, envelope }) {
    const peer = await call.part(peersPart).get(name)
    if (!peer) return refuseUnsigned()
    const recent = call.part(verifiedMessageCachePart).find(name, type, envelope)
    const found = recent ?? (await verifySignature(call, peer, type, envelope))
    if (isRefusal(found)) return found
    const answer = { payload: Buffer.from(found.payload).toString('base64url'), keys: [...found.keys] }
    if (type !== 'statement') return answer
    const label = recent?.label ?? judgeStatement(call, peer, found)
    if (isRefusal(label)) return label
    const { is_label_released = false } = recent ?? {}
    const transport = carrierOf(peer.name, (section) => call.settings(section))
    return { ...answer, label, is_label_released, transport, ...(peer.label_map ? { label_map: peer.label_map } : {}) }
  },
})

async function verifySignature(
  call: Call,
  peer: Peer,
  type: SignatureType,
  envelope: Jws,
): Promise<VerifiedPayload | Refusal> {
  const keys = peer.keys.filter((key) => key.use === 'message')
  const found = await call.part(signaturesPart).verify(type, envelope, keys)
  return typeof found !== 'string' && found.keys.length >= peer.threshold ? found : refuseUnsigned()
}

function refuseUnsigned(): Refusal {
  return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
}

/** The label of a message that did not come by a carrier; checked here as a carrier checks it. */
function judgeStatement(call: Call, peer: Peer, { payload, keys }: VerifiedPayload): Label | Refusal {
  const statement = parseStatement(payload)
  if (!statement) return refuse('signature_invalid', 'the signed content is not a statement')
  if (!isSignedInKeyLifetime(statement, keys))
    return refuse('signature_invalid', 'a key signed the message after its own end')
  const { skew_s, trusted_clock, releasable_names } = call.settings(filedropSettings)
  const { name: site, tenant_id, labels } = call.site
  const names = [tenant_id, ...releasable_names]
  return acceptStatement(statement, peer, { site, names, labels, now: trusted_clock ? call.now() : undefined, skew_s })
}
