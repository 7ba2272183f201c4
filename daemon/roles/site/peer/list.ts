// Lists the pinned peers.
import { peer } from '../../../kernel/identity/peer.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { listPeers } from '../../../shared/pinned-peers/pinned-peers.ts'
import { peersPart } from '../parts.ts'

export const list = operation({
  summary: 'List pinned peers',
  method: 'GET',
  path: '/api/v2/site/peer',
  input: listPeers.input,
  output: wholeListSchema(peer).meta({ id: 'PeerList' }),
  errors: [],
  allow: 'peer:read',

  run: async (call) => wholeList([...(await call.part(peersPart).list())]),
})
