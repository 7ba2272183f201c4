// Caches the key folder of a running process; it is read again only after another process has changed it.
import * as fs from 'node:fs'
import { readKeyFiles, type StoredKey } from './key-files.ts'

export interface KeyFolder {
  /** All keys as they are on disk now, oldest first. Throws as `readKeyFiles` does. */
  keys(): readonly StoredKey[]
  /** Changes whenever the keys may have changed: values derived from the keys under another stamp are out of date. */
  stamp(): string
}

/**
 * Coarsest timestamp resolution of the supported file systems. Two changes within one step leave the same timestamp, so
 * a reading is cached only if the last change is older than one step.
 */
const timestamp_step_ms = 2_000

/** How often the folder is checked: a check holds for `every_ms` of the monotonic clock, in milliseconds. */
export type KeyCheckInterval = { readonly every_ms: number; monotonic(): number }

const checkEachTime: KeyCheckInterval = { every_ms: 0, monotonic: () => 0 }

/** A check costs one `stat` while the folder is unchanged: key files are only renamed into place, which changes it. */
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
