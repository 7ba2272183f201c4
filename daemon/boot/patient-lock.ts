// Waits for a lock that another process may hold for a moment: each is let go of when its process ends, however.
import { setTimeout as rest } from 'node:timers/promises'
import { takeLock } from '../../adapters/store/sqlite/lock.ts'
import { Refused } from '../kernel/errors.ts'
import { carryingLockOf, type SiteFolder } from './site-folder.ts'
import { runFolder } from './stock.ts'

const pause_ms = 20

/** A network lets go of what it has in hand within seconds: see `link.ts` of the broker's. */
const carrying_ms = 30_000

export type Lock = { release(): void }

/** `otherwise`: what is said when the time is up, as `Refused('conflict')`. */
export async function patientLock(
  folder: SiteFolder,
  file: string,
  { patience_ms, otherwise }: { readonly patience_ms: number; readonly otherwise: string },
): Promise<Lock> {
  for (let waited = 0; waited < patience_ms; waited += pause_ms) {
    const lock = takeLock(file, runFolder(folder, 'site'))
    if (lock) return lock
    await rest(pause_ms)
  }
  throw new Refused('conflict', otherwise)
}

/** Held by whoever takes messages to the peer, and by who must know that nobody does. */
export async function holdPeer(folder: SiteFolder, peer: string): Promise<Lock> {
  const otherwise = `a network has messages for ${peer} in hand, and does not let go of them`
  return await patientLock(folder, carryingLockOf(folder, peer), { patience_ms: carrying_ms, otherwise })
}
