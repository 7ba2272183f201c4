// What is not complete, remembered by how it looks: nothing of it is opened again, nor told to the journal, before that has changed.
import * as fs from 'node:fs'
import { kindOf } from '../checks/dropped-file.ts'
import type { Folders } from '../layout.ts'
import { parts } from '../names.ts'
import { type Item, pathOf, type Stranger } from './dropbox.ts'

/** `since`: when it first looked so. `isSure`: it was opened long enough after that. `scan`: the last that saw it. */
type Seen = { look: string; since: number; isSure: boolean; scan: number }

/** Longer than any file system's times of change are apart: what is written after that looks otherwise. */
const settled_ms = 3_000

/** One map over all scans, since a hundred thousand entries made anew by each would be the memory of many scans. */
export class Incomplete {
  readonly #folders: Folders
  /** By stem or, of a stranger, by name. */
  readonly #seen = new Map<string, Seen>()
  #scan = 0
  /** Whether the journal has to be told. It may know of names from before this process. */
  hasChanged = true

  constructor(folders: Folders) {
    this.#folders = folders
  }

  begin(): void {
    this.#scan += 1
  }

  /** Forgets what this scan, which is through, has not seen. */
  end(): void {
    for (const [key, { scan }] of this.#seen) if (scan !== this.#scan) this.hasChanged = this.#seen.delete(key)
  }

  /** Whether it waited when it was seen last. */
  has(key: string): boolean {
    return this.#seen.has(key)
  }

  /** Whether this scan has found that it waits. */
  waits(waiting: Item | Stranger): boolean {
    return this.#seen.get('stem' in waiting ? waiting.stem : waiting.bytes)?.scan === this.#scan
  }

  enterStranger({ bytes }: Stranger): void {
    this.#enter(bytes, '', 0)
  }

  /** `now`: of the clock that never jumps, in milliseconds. */
  enter(item: Item, now: number): void {
    this.#enter(item.stem, this.#lookOf(item), now)
  }

  /** Whether it waits as it did before: a half that is a plain file, or a pair that nobody has touched since. */
  stillWaits(item: Item): boolean {
    if (parts.some((part) => item[part] === 'work')) return false
    try {
      if (!item.env || !item.body) return this.#isPlainHalf(item)
      const seen = this.#seen.get(item.stem)
      if (!seen?.isSure || seen.look !== this.#lookOf(item)) return false
      seen.scan = this.#scan
      return true
    } catch {
      // Whoever opens it meets the same, and tells.
      return false
    }
  }

  #isPlainHalf(item: Item): boolean {
    const part = item.env ? 'env' : 'body'
    if (kindOf(pathOf(this.#folders, item, part)) !== undefined) return false
    this.#enter(item.stem, part, 0)
    return true
  }

  #enter(key: string, look: string, now: number): void {
    const seen = this.#seen.get(key)
    if (seen?.look === look) {
      seen.scan = this.#scan
      seen.isSure ||= now - seen.since >= settled_ms
      return
    }
    this.hasChanged = true
    this.#seen.set(key, { look, since: now, isSure: false, scan: this.#scan })
  }

  /** The time of change, which no sender sets, moves with whatever happens to a file, a second name of it too. */
  #lookOf(item: Item): string {
    const looks = parts.map((part) => {
      if (item[part] === undefined) return part
      const stat = fs.lstatSync(pathOf(this.#folders, item, part), { throwIfNoEntry: false })
      return [stat?.ino, stat?.size, stat?.ctimeMs].join(' ')
    })
    return looks.join(' ')
  }
}
