// The pinned peers of the site as other roles need them: contract of the site role.
import * as z from 'zod'
import type { Call } from '../../kernel/operation/call.ts'
import { operationContract, throwRefusal } from '../../kernel/operation/operation-contract.ts'

const pinnedPeer = z.object({ name: z.string(), tenant_id: z.string(), threshold: z.int().optional() })
export type PinnedPeer = z.infer<typeof pinnedPeer>

export const listPeers = operationContract({
  address: 'site.peer.list',
  input: z.strictObject({}),
  output: z.object({ items: z.array(pinnedPeer) }),
})

export async function listPinnedPeers({ roles }: Call): Promise<PinnedPeer[]> {
  return (await throwRefusal(roles.request(listPeers, {}))).items
}
