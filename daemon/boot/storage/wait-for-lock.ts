// Waits for a lock that another process may hold for a moment: each is let go of when its process ends, however.
import { setTimeout as rest } from 'node:timers/promises'
import { takeLock } from '../../../adapters/store/sqlite/lock.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { ensureRunFolder } from './role-storage.ts'
import { peerLockFile, type SiteFolder } from './site-folder.ts'

const poll_interval_ms = 20

/** A network lets go of what it has in hand within seconds: see `link.ts` of the broker's. */
const peer_lock_timeout_ms = 30_000

export type SiteLock = { release(): void }

/** `otherwise`: what is said when the time is up, as `Refusal('conflict')`. */
export async function waitForLock(
  folder: SiteFolder,
  file: string,
  { timeout_ms, refusal_message }: { readonly timeout_ms: number; readonly refusal_message: string },
): Promise<SiteLock> {
  for (let waited = 0; waited < timeout_ms; waited += poll_interval_ms) {
    const lock = takeLock(file, ensureRunFolder(folder, 'site'))
    if (lock) return lock
    await rest(poll_interval_ms)
  }
  throw new Refusal('conflict', refusal_message)
}

/** Held by whoever takes messages to the peer, and by who must know that nobody does. */
export async function lockPeer(folder: SiteFolder, peer: string): Promise<SiteLock> {
  const otherwise = `a network has messages for ${peer} in hand, and does not let go of them`
  return await waitForLock(folder, peerLockFile(folder, peer), {
    timeout_ms: peer_lock_timeout_ms,
    refusal_message: otherwise,
  })
}
