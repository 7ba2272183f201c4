// Files with the messages of a reading: lines that land, and the bodies of those that cannot.
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { writeFully } from '../../../../adapters/platform/durable-file/write-durably.ts'
import type { LeftOutRecord } from '../landing/landing-input.ts'

type StagedBody = { readonly place: number; readonly reason: string; readonly at: number; readonly bytes: number }

const piece_bytes = 1 << 20

/** The line of a message in the file of rows has its number: that of one which cannot land is empty. */
export class StagedMessages {
  readonly #rows: number
  readonly #bodies_file: string
  readonly #bodies: number
  readonly #leftOut: StagedBody[] = []
  #pending: string[] = []
  #pending_characters = 0
  #body_bytes = 0
  #isClosed = false
  /** Messages so far. */
  count = 0

  /** Two new files. */
  constructor(rows: string, bodies: string) {
    this.#rows = openSync(rows, 'wx', 0o600)
    this.#bodies_file = bodies
    this.#bodies = openSync(bodies, 'wx', 0o600)
  }

  add(line: string): void {
    this.count++
    this.#pending.push(line)
    this.#pending_characters += line.length
    if (this.#pending_characters >= piece_bytes) this.#flush()
  }

  leaveOut(reason: string, body: Uint8Array): void {
    this.add('')
    this.#leftOut.push({ place: this.count, reason, at: this.#body_bytes, bytes: body.length })
    writeFully(this.#bodies, body)
    this.#body_bytes += body.length
  }

  #flush(): void {
    if (this.#pending.length === 0) return
    writeFully(this.#rows, Buffer.from(`${this.#pending.join('\n')}\n`))
    this.#pending = []
    this.#pending_characters = 0
  }

  /** Ends the files. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      this.#flush()
    } finally {
      closeSync(this.#rows)
      closeSync(this.#bodies)
    }
  }

  get hasRows(): boolean {
    return this.count > this.#leftOut.length
  }

  /** Each with its whole body. */
  *leftOut(): Generator<LeftOutRecord> {
    const file = openSync(this.#bodies_file, 'r')
    try {
      for (const { place, reason, at, bytes } of this.#leftOut) {
        const body = Buffer.alloc(bytes)
        for (let done = 0; done < bytes; ) {
          const read = readSync(file, body, done, bytes - done, at + done)
          if (read === 0) throw new Error('the file of bodies is shorter than it was')
          done += read
        }
        yield { place, reason, ...(isUtf8(body) ? { record: body.toString() } : describeBytes(body)) }
      }
    } finally {
      closeSync(file)
    }
  }
}

function describeBytes(body: Buffer) {
  return { record: body.toString('base64'), encoding: 'base64' as const }
}
