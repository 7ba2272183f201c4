// Lines that outlive the process: each batch is one write to the end of a file of the writer's own, sealed when it is due.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { open_extension, sealed_extension } from './segment-names.ts'

export type SegmentWriterOptions = {
  /** It is there, and private (0700). */
  readonly dir: string
  /** Of letters, digits and hyphens; no other writer ever has the same. Names sort as their segments were begun. */
  readonly name: string
  /** A segment that has reached this size is sealed. */
  readonly most_bytes: number
  /** Bytes that are held while nothing can be written; lines beyond are dropped and counted. */
  readonly most_held_bytes: number
  /** Called when writing begins to fail, and when it works again. */
  readonly onStateChange: (state: 'failing' | 'back', detail: string) => void
}

/**
 * Flushed lines survive the end of the process, however it ended; sealed segments survive a crash of the machine.
 * A failing disk stops no caller: lines are held, then dropped, and `lost` counts them.
 */
export class SegmentWriter {
  readonly #options: SegmentWriterOptions
  #buffered = ''
  #buffered_lines = 0
  #file: { readonly fd: number; readonly path: string; bytes: number } | undefined
  #segment_count = 0
  #isFailing = false
  readonly #sealing = new Set<Promise<void>>()
  /** Could not be sealed yet. */
  #unsealed: string[] = []
  /** Lines that could not be kept since the writer was made. */
  lost = 0

  constructor(options: SegmentWriterOptions) {
    this.#options = options
  }

  /** Whether anything waits for `flush`. */
  get hasBuffered(): boolean {
    return this.#buffered !== ''
  }

  /** One line, without its end. */
  add(line: string): void {
    if (this.#buffered.length + line.length >= this.#options.most_held_bytes) this.lost += 1
    else {
      this.#buffered += `${line}\n`
      this.#buffered_lines += 1
    }
  }

  /** Hands everything to the operating system, in the order in which it was added. */
  flush(): void {
    if (this.#buffered === '') return
    try {
      this.#file ??= this.#openSegment()
      const file = this.#file
      // At a place of our own choosing: what a failing disk took a part of is written over by the next attempt.
      writeAt(file.fd, this.#buffered, file.bytes)
      file.bytes += Buffer.byteLength(this.#buffered)
      this.#buffered = ''
      this.#buffered_lines = 0
      this.#reportState(false, '')
      if (file.bytes >= this.#options.most_bytes) this.seal()
    } catch (error) {
      this.#reportState(true, (error as NodeJS.ErrnoException).code ?? 'unknown')
    }
  }

  /**
   * Ends the segment that is open, if any, so that others may take it; it is on the disk before it has its final name. What
   * could not be sealed before is tried again.
   */
  seal(): void {
    const again = this.#unsealed
    this.#unsealed = []
    for (const path of again) this.#sealSegment(path)
    const file = this.#file
    this.#file = undefined
    if (file) this.#sealSegment(file.path, file.fd)
  }

  #sealSegment(path: string, fd?: number): void {
    const sealed = sealFile(path, fd).catch((error: NodeJS.ErrnoException) => {
      this.#unsealed.push(path)
      this.#reportState(true, error.code ?? 'unknown')
    })
    this.#sealing.add(sealed)
    void sealed.then(() => this.#sealing.delete(sealed))
  }

  /** Writes and seals what there is. */
  async end(): Promise<void> {
    this.flush()
    this.lost += this.#buffered_lines
    this.seal()
    await Promise.all(this.#sealing)
  }

  #openSegment() {
    const { dir, name } = this.#options
    const path = join(dir, `${name}-${String(this.#segment_count + 1).padStart(8, '0')}`)
    const fd = fs.openSync(path + open_extension, 'wx', 0o600)
    this.#segment_count += 1
    return { fd, path, bytes: 0 }
  }

  #reportState(isFailing: boolean, detail: string): void {
    if (isFailing === this.#isFailing) return
    this.#isFailing = isFailing
    this.#options.onStateChange(isFailing ? 'failing' : 'back', detail)
  }
}

function writeAt(fd: number, text: string, position: number): void {
  const bytes = Buffer.from(text)
  let written = 0
  while (written < bytes.length) {
    written += fs.writeSync(fd, bytes, written, bytes.length - written, position + written)
  }
}

async function sealFile(path: string, fd = fs.openSync(path + open_extension, 'r+')): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()))
  }).finally(() => fs.closeSync(fd))
  await fs.promises.rename(path + open_extension, path + sealed_extension)
}
