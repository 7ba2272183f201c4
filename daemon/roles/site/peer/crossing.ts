// Checks if an object with a label may cross to a peer, before objects are created that could not be sent.
import { checkOutgoingLabel } from '../../../kernel/label/crossing.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { checkPeerCrossing } from '../../../shared/label-crossing/label-crossing.ts'
import { peersPart } from '../parts.ts'

export const crossing = operation({
  summary: 'Whether a label may cross to a peer',
  method: 'POST',
  path: '/api/v2/site/peer/{name}/crossing',
  input: checkPeerCrossing.input,
  output: checkPeerCrossing.output,
  errors: [],
  allow: 'peer:read',

  async run(call, { name, label }) {
    const peer = await call.part(peersPart).get(name)
    if (!peer) return { allowed: false, reason: 'the peer is not pinned' }
    const refusal = checkOutgoingLabel(label, peer, call.site.labels)
    return refusal
      ? { allowed: false, reason: refusal.message }
      : { allowed: true, reason: 'within the ceiling and releasable' }
  },
})
