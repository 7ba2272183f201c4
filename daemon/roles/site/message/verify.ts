// Verifies a peer's message: signature by its pinned keys, and all that its statement must hold before anything is done.
import type { Call } from '../../../kernel/call.ts'
import { isRefused, type Refused, refuse } from '../../../kernel/errors.ts'
import type { Jws, SignatureType, Verified } from '../../../kernel/keys.ts'
import type { Label } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import type { Peer } from '../../../kernel/peer.ts'
import { statementIn } from '../../../kernel/statement-format.ts'
import { carrierOf } from '../carrier-settings.ts'
import { peersPart, recentlyVerifiedPart, signaturesPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'
import { verification, verifiedMessage } from './model.ts'
import { accepted, isInTime } from './rules.ts'

export const verify = operation({
  summary: 'Verify a signed message of a peer',
  method: 'POST',
  path: '/api/v2/site/message/verify',
  input: verification,
  output: verifiedMessage,
  errors: ['signature_invalid', 'label_denied'],
  allow: 'message:verify',
  max_body_bytes: 1_048_576,

  async run(call, { peer: name, type, envelope }) {
    const peer = await call.part(peersPart).get(name)
    if (!peer) return unsigned()
    const recent = call.part(recentlyVerifiedPart).find(name, type, envelope)
    const found = recent ?? (await verified(call, peer, type, envelope))
    if (isRefused(found)) return found
    const answer = { payload: Buffer.from(found.payload).toString('base64url'), keys: [...found.keys] }
    if (type !== 'statement') return answer
    const label = recent?.label ?? judged(call, peer, found)
    if (isRefused(label)) return label
    const { is_label_released = false } = recent ?? {}
    const transport = carrierOf(peer.name, (section) => call.settings(section))
    return { ...answer, label, is_label_released, transport, ...(peer.label_map ? { label_map: peer.label_map } : {}) }
  },
})

async function verified(call: Call, peer: Peer, type: SignatureType, envelope: Jws): Promise<Verified | Refused> {
  const keys = peer.keys.filter((key) => key.use === 'message')
  const found = await call.part(signaturesPart).verify(type, envelope, keys)
  return typeof found !== 'string' && found.keys.length >= peer.threshold ? found : unsigned()
}

function unsigned(): Refused {
  return refuse('signature_invalid', 'the message carries no valid signature of a pinned key')
}

/** The label of a message that came by no carrier, which is judged here as a carrier judges. */
function judged(call: Call, peer: Peer, { payload, keys }: Verified): Label | Refused {
  const said = statementIn(payload)
  if (!said) return refuse('signature_invalid', 'what was signed is no statement')
  if (!isInTime(said, keys)) return refuse('signature_invalid', 'a key signed the message after its own end')
  const { skew_s, trusted_clock, releasable_names } = call.settings(filedropSettings)
  const { name: site, tenant_id, labels } = call.site
  const names = [tenant_id, ...releasable_names]
  return accepted(said, peer, { site, names, labels, now: trusted_clock ? call.now() : undefined, skew_s })
}
