// Remembers incomplete messages by their file metadata: they are opened and journalled again only after a change.
import * as fs from 'node:fs'
import type { ChannelFolders } from '../../files/channel-folders.ts'
import { checkFileKind } from '../../files/dropped-file.ts'
import { messageParts } from '../../files/message-name.ts'
import { type IncomingItem, itemPath, type UnrecognizedFile } from './incoming-files.ts'

/** `since`: when it first looked so. `isSure`: it was opened long enough after that. `scan`: the last that saw it. */
type IncompleteEntry = { stamp: string; since: number; isSure: boolean; scan: number }

/** Longer than the step of any file system's clock: a later write shows another time of change. */
const file_settle_ms = 3_000

/** One map over all scans, since a hundred thousand entries made anew by each would be the memory of many scans. */
export class IncompleteMessages {
  readonly #folders: ChannelFolders
  /** By stem or, of an unrecognised file, by name. */
  readonly #seen = new Map<string, IncompleteEntry>()
  #scan = 0
  /** Whether the journal must be updated. It may hold names from before this process. */
  hasChanged = true

  constructor(folders: ChannelFolders) {
    this.#folders = folders
  }

  beginScan(): void {
    this.#scan += 1
  }

  /** Forgets what this scan, which is through, has not seen. */
  endScan(): void {
    for (const [key, { scan }] of this.#seen) if (scan !== this.#scan) this.hasChanged = this.#seen.delete(key)
  }

  /** Whether it waited when it was seen last. */
  has(key: string): boolean {
    return this.#seen.has(key)
  }

  /** Whether this scan has found that it waits. */
  isWaiting(waiting: IncomingItem | UnrecognizedFile): boolean {
    return this.#seen.get('stem' in waiting ? waiting.stem : waiting.raw_name)?.scan === this.#scan
  }

  enterUnrecognized({ raw_name }: UnrecognizedFile): void {
    this.#enter(raw_name, '', 0)
  }

  /** `now`: of the clock that never jumps, in milliseconds. */
  enter(item: IncomingItem, now: number): void {
    this.#enter(item.stem, this.#stampOf(item), now)
  }

  /** Whether it waits as before: a half that is a regular file, or a pair without changes since. */
  isStillWaiting(item: IncomingItem): boolean {
    if (messageParts.some((part) => item[part] === 'work')) return false
    try {
      if (!item.env || !item.body) return this.#isPlainHalf(item)
      const seen = this.#seen.get(item.stem)
      if (!seen?.isSure || seen.stamp !== this.#stampOf(item)) return false
      seen.scan = this.#scan
      return true
    } catch {
      // Opening it later meets the same error, and reports it.
      return false
    }
  }

  #isPlainHalf(item: IncomingItem): boolean {
    const part = item.env ? 'env' : 'body'
    if (checkFileKind(itemPath(this.#folders, item, part)) !== undefined) return false
    this.#enter(item.stem, part, 0)
    return true
  }

  #enter(key: string, look: string, now: number): void {
    const seen = this.#seen.get(key)
    if (seen?.stamp === look) {
      seen.scan = this.#scan
      seen.isSure ||= now - seen.since >= file_settle_ms
      return
    }
    this.hasChanged = true
    this.#seen.set(key, { stamp: look, since: now, isSure: false, scan: this.#scan })
  }

  /** The time of change, which no sender sets, moves with every change of a file, also with a second name. */
  #stampOf(item: IncomingItem): string {
    const looks = messageParts.map((part) => {
      if (item[part] === undefined) return part
      const stat = fs.lstatSync(itemPath(this.#folders, item, part), { throwIfNoEntry: false })
      return [stat?.ino, stat?.size, stat?.ctimeMs].join(' ')
    })
    return looks.join(' ')
  }
}
