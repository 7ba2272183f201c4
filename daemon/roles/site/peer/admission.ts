// Translates the label of a document from a peer into the terms of this site, where the document may enter.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { admitIncomingLabel } from '../../../kernel/label/crossing.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { admitPeerLabel } from '../../../shared/label-crossing/label-crossing.ts'
import { peersPart } from '../parts.ts'
import { filedropSettings } from '../settings.ts'

export const admission = operation({
  summary: 'Whether an object with a label may enter from a peer, and its label in the terms of this site',
  method: 'POST',
  path: '/api/v2/site/peer/{name}/admission',
  input: admitPeerLabel.input,
  output: admitPeerLabel.output,
  errors: [],
  allow: 'peer:read',

  async run(call, { name, label }) {
    const peer = await call.part(peersPart).get(name)
    if (!peer) return { reason: 'the peer is not pinned' }
    const { tenant_id, labels } = call.site
    const receiver = [tenant_id, ...call.settings(filedropSettings).releasable_names]
    const admitted = admitIncomingLabel(label, peer, receiver, labels)
    return isRefusal(admitted) ? { reason: admitted.message } : { label: admitted }
  },
})
