// Changes the pinned record of a peer under a lock, so that a key set arriving now cannot undo a person's revocation.
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import type { SiteFolder } from '../storage/site-folder.ts'
import { withIdentityLock } from './token-key-list.ts'

/**
 * Durable once it resolves. `change` receives the pinned peer; returning it unchanged changes nothing, and a refusal passes
 * through. Undefined if the peer is not pinned.
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
