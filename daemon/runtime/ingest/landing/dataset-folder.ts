// The folder of a dataset while it is written: it has its name once all of it is on disk, and is gone after a failure.
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from '../../../../adapters/platform/durable-file/sync-folder.ts'
import { writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import { runningDigest } from '../../../kernel/encoding/running-digest.ts'
import { LandingError } from './landing-error.ts'

/** Runs each operation on a path, as a command does for another user. */
export type PathRunner = <T>(action: () => T) => T

export type FolderFile = {
  readonly bytes: number
  write(bytes: Uint8Array): void
  /** Syncs and closes the file. */
  finish(): { readonly name: string; readonly bytes: number; readonly sha256: string }
}

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'what should be its folder is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
}

export class DatasetFolder {
  readonly #target: string
  readonly #runAs: PathRunner
  readonly #draft: string
  readonly #open = new Set<number>()

  /**
   * Claims a new name. `drafts`: an existing folder of the same disk, that of the target by default. Throws `LandingError` where the
   * target exists or cannot be written.
   */
  constructor(target: string, runAs: PathRunner, drafts?: string) {
    this.#target = resolve(target)
    this.#runAs = runAs
    this.#draft = join(
      drafts ?? dirname(this.#target),
      `.${basename(this.#target)}.${randomBytes(6).toString('hex')}.partial`,
    )
    this.#requireNew()
    this.#convert(() => mkdirSync(this.#draft, { mode: 0o700 }))
  }

  #requireNew(): void {
    if (this.#runAs(() => lstatSync(this.#target, { throwIfNoEntry: false })))
      throw new LandingError(`${this.#target} already exists`, 'name a new folder', [], true)
  }

  #convert<T>(action: () => T): T {
    try {
      return this.#runAs(action)
    } catch (error) {
      const { code = '', syscall } = error as NodeJS.ErrnoException
      if (syscall === undefined) throw error
      throw new LandingError(`${this.#target} cannot be written: ${reasonsByCode[code] ?? code}`)
    }
  }

  create(name: string): FolderFile {
    const opened = this.#convert(() => openSync(join(this.#draft, name), 'wx', 0o600))
    this.#open.add(opened)
    const digested = runningDigest()
    let length = 0
    return {
      get bytes() {
        return length
      },
      write: (bytes) => {
        digested.add(bytes)
        length += bytes.length
        this.#convert(() => writeFully(opened, bytes))
      },
      finish: () => {
        this.#convert(() => fsyncSync(opened))
        this.#close(opened)
        return { name, bytes: length, sha256: digested.hex() }
      },
    }
  }

  #close(opened: number): void {
    this.#open.delete(opened)
    closeSync(opened)
  }

  /** Removes what was written so far, to begin again. */
  empty(): void {
    this.discard()
    this.#convert(() => mkdirSync(this.#draft, { mode: 0o700 }))
  }

  /** Gives the folder its name, durably. */
  publish(): void {
    this.#convert(() => syncFolder(this.#draft))
    this.#requireNew()
    this.#convert(() => renameSync(this.#draft, this.#target))
    this.#convert(() => syncFolder(dirname(this.#target)))
  }

  /** Removes the draft; does nothing after `publish`. */
  discard(): void {
    for (const opened of this.#open) this.#close(opened)
    this.#runAs(() => rmSync(this.#draft, { recursive: true, force: true }))
  }
}
