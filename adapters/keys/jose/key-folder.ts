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
const coarsestStepMs = 2_000

/** One `stat` a call while nothing changes: key files are only ever renamed into place, which touches the folder. */
export function openKeyFolder(dir: string): KeyFolder {
  let held: readonly StoredKey[] = []
  let heldStamp: string | undefined
  let generation = 0

  const look = () => {
    const stat = fs.statSync(dir, { bigint: true, throwIfNoEntry: false })
    const onDisk = stat ? `${stat.ino}.${stat.mtimeNs}.${stat.ctimeNs}` : 'absent'
    if (onDisk === heldStamp) return
    heldStamp = undefined
    const keys = readKeyFiles(dir)
    if (JSON.stringify(keys) !== JSON.stringify(held)) generation += 1
    held = keys
    // The wall clock, not the injected one: it is compared with the times of the file system.
    const settled = stat === undefined || Math.abs(Date.now() - Number(stat.mtimeMs)) > coarsestStepMs
    if (settled) heldStamp = onDisk
  }

  return {
    keys: () => {
      look()
      return held
    },
    stamp: () => {
      look()
      return String(generation)
    },
  }
}
