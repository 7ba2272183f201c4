// Waits for a lock that another process may hold for a moment. The end of a process, however it ends, releases its locks.
import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { takeLock } from '../../../adapters/store/sqlite/lock.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { siteOwner } from '../host/site-owner.ts'
import { ensureRunFolder } from './role-storage.ts'
import { roleRunFolder, type SiteFolder } from './site-folder.ts'

const poll_interval_ms = 20

/** A network carrier releases its messages within seconds. */
const peer_lock_timeout_ms = 30_000

export type SiteLock = { release(): void }

/** Throws `Refusal('conflict')` with `refusal_message` after `timeout_ms`. */
export async function waitForLock(
  folder: SiteFolder,
  file: string,
  { timeout_ms, refusal_message }: { readonly timeout_ms: number; readonly refusal_message: string },
): Promise<SiteLock> {
  for (let waited_ms = 0; waited_ms < timeout_ms; waited_ms += poll_interval_ms) {
    const lock = takeLock(file, ensureRunFolder(folder, siteOwner))
    if (lock) return lock
    await rest(poll_interval_ms)
  }
  throw new Refusal('conflict', refusal_message)
}

/** Held while messages for the peer are on their way to it. */
function peerLockFile(folder: SiteFolder, peer: string): string {
  return join(roleRunFolder(folder, siteOwner), `carrying.${peer}`)
}

/** Held by the process that carries messages to the peer, and by one that must be sure that none does. */
export async function lockPeer(folder: SiteFolder, peer: string): Promise<SiteLock> {
  const refusal_message = `a network carrier still holds messages for ${peer}`
  return await waitForLock(folder, peerLockFile(folder, peer), {
    timeout_ms: peer_lock_timeout_ms,
    refusal_message,
  })
}
