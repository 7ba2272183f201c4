// The lines of a server on its standard output, each one message: cut out of its chunks, and bounded.
import { refuse } from '../../../daemon/kernel/error/errors.ts'

const line_feed = 0x0a
const line_return = 0x0d

export class MessageLines {
  readonly #max_bytes: number
  #parts: Uint8Array[] = []
  #bytes = 0

  /** `max_bytes`: of one line. */
  constructor(max_bytes: number) {
    this.#max_bytes = max_bytes
  }

  /** The lines that this chunk completes, without their ends and without empty ones. Throws `Refusal` for a line that is too long. */
  *split(chunk: Uint8Array): Generator<Buffer> {
    let from = 0
    for (let end = chunk.indexOf(line_feed); end !== -1; end = chunk.indexOf(line_feed, from)) {
      const isEmpty = end === from && this.#bytes === 0
      const line = isEmpty ? undefined : this.#take(chunk.subarray(from, end))
      from = end + 1
      if (line && line.length > 0) yield line
    }
    this.#keep(chunk.subarray(from))
  }

  #take(last: Uint8Array): Buffer {
    this.#keep(last)
    const line = Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    return line.at(-1) === line_return ? line.subarray(0, -1) : line
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return
    this.#bytes += part.length
    if (this.#bytes > this.#max_bytes)
      throw refuse('unavailable', `a message of the server is larger than ${this.#max_bytes} bytes`)
    this.#parts.push(part)
  }
}
