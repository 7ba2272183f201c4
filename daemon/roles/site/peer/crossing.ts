// Whether something with a label may cross to a peer, before anything is made that then could not be sent.
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

  async run(call, { name, label: held }) {
    const peer = await call.part(peersPart).get(name)
    if (!peer) return { allowed: false, reason: 'there is no such peer' }
    const refused = checkOutgoingLabel(held, peer, call.site.labels)
    return refused
      ? { allowed: false, reason: refused.message }
      : { allowed: true, reason: 'within the ceiling and releasable' }
  },
})
