// The key folder as a running process sees it: read again as soon as another process has changed it, and only then.
import * as fs from 'node:fs'
import { readKeyFiles, type StoredKey } from './key-files.ts'

export interface KeyFolder {
  /** All keys as they are on disk now, oldest first. Throws as `readKeyFiles` does. */
  keys(): readonly StoredKey[]
  /** Changes whenever the keys may have: what was derived from keys under another stamp must be derived anew. */
  stamp(): string
}

/**
 * Coarsest step of the file systems that a site may lie on. A folder changed twice within one step shows the same time
 * for both, so a reading is only kept once the change it saw lies longer back.
 */
const timestamp_step_ms = 2_000

/** How often the folder is looked at: a look holds for `every_ms` of the clock (milliseconds, never jumping). */
export type KeyCheckInterval = { readonly every_ms: number; monotonic(): number }

const checkEachTime: KeyCheckInterval = { every_ms: 0, monotonic: () => 0 }

/** One `stat` a look while nothing changes: key files are only ever renamed into place, which touches the folder. */
export function openKeyFolder(dir: string, interval = checkEachTime): KeyFolder {
  let held: readonly StoredKey[] = []
  let heldStamp: string | undefined
  let generation = 0
  let lookedAt = Number.NEGATIVE_INFINITY

  const lookIfDue = () => {
    const now = interval.monotonic()
    if (now - lookedAt < interval.every_ms) return
    look()
    lookedAt = now
  }

  const look = () => {
    const stat = fs.statSync(dir, { bigint: true, throwIfNoEntry: false })
    const onDisk = stat ? `${stat.ino}.${stat.mtimeNs}.${stat.ctimeNs}` : 'absent'
    if (onDisk === heldStamp) return
    heldStamp = undefined
    const keys = readKeyFiles(dir)
    if (JSON.stringify(keys) !== JSON.stringify(held)) generation += 1
    held = keys
    // The wall clock, not the injected one: it is compared with the times of the file system.
    const settled = stat === undefined || Math.abs(Date.now() - Number(stat.mtimeMs)) > timestamp_step_ms
    if (settled) heldStamp = onDisk
  }

  return {
    keys: () => {
      lookIfDue()
      return held
    },
    stamp: () => {
      lookIfDue()
      return String(generation)
    },
  }
}
