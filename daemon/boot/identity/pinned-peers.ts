// Changes what is pinned of a peer, one change at a time: what a person revokes here is not undone by a key set that comes just then.
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import type { SiteFolder } from '../storage/site-folder.ts'
import { withIdentityLock } from './token-key-list.ts'

/**
 * Durable when it resolves. `change` gets the peer as it is pinned, and gives it back unchanged to change nothing; what it
 * refuses is given on. Undefined when there is no such peer.
 */
export async function updatePinnedPeer(
  folder: SiteFolder,
  name: string,
  change: (peer: Peer) => Promise<Peer | Refusal>,
): Promise<Peer | Refusal | undefined> {
  return await withIdentityLock(folder, async () => {
    const files = peerFiles(folder.peers)
    const peer = await files.get(name)
    if (!peer) return undefined
    const changed = await change(peer)
    if (!isRefusal(changed) && changed !== peer) await files.add(changed, { replace: true })
    return changed
  })
}
