// Lists the pinned peers.
import * as z from 'zod'
import { peer } from '../../../kernel/identity/peer.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { peersPart } from '../parts.ts'

export const list = operation({
  summary: 'List pinned peers',
  method: 'GET',
  path: '/api/v2/site/peer',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(peer) }).meta({ id: 'PeerList' }),
  errors: [],
  allow: 'peer:read',

  run: async (call) => ({ items: await call.part(peersPart).list() }),
})
