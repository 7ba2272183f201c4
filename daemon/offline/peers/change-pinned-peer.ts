// Changes the record of a pinned peer for commands, under the lock that the running site takes as well.
import { updatePinnedPeer } from '../../boot/identity/pinned-peers.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { isRefusal, type Refusal } from '../../kernel/error/errors.ts'
import type { Peer } from '../../kernel/identity/peer.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Returns the changed peer. Throws `OfflineCommandError`: 1 if the peer is not pinned, 3 if `change` refuses. */
export async function changePinnedPeer(
  folder: SiteFolder,
  name: string,
  change: (peer: Peer) => Promise<Peer | Refusal>,
): Promise<Peer> {
  const result = await updatePinnedPeer(folder, name, change)
  if (result && !isRefusal(result)) return result
  if (!result || result.code === 'not_found')
    throw new OfflineCommandError(
      1,
      result?.message ?? `the peer ${name} is not pinned`,
      '`platform peers list` lists the peers',
    )
  throw new OfflineCommandError(3, result.message)
}
