// Lists the pinned peers.
import * as z from 'zod'
import { peer } from '../../../kernel/identity/peer.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { listPeers } from '../../../shared/pinned-peers/pinned-peers.ts'
import { peersPart } from '../parts.ts'

export const list = operation({
  summary: 'List pinned peers',
  method: 'GET',
  path: '/api/v2/site/peer',
  input: listPeers.input,
  output: z.strictObject({ items: z.array(peer) }).meta({ id: 'PeerList' }),
  errors: [],
  allow: 'peer:read',

  run: async (call) => ({ items: await call.part(peersPart).list() }),
})
