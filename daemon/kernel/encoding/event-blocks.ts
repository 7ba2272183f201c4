// Splits a stream of server-sent events (WHATWG HTML section 9.2.6) into its events, in time and memory in proportion to its
// bytes, however they are cut into chunks.
import { GatheredBytes } from './gathered-bytes.ts'

const line_feed = 0x0a
const line_return = 0x0d

/** A shorter event has no data: a blank line, or a comment that keeps the connection alive. */
const min_event_bytes = 'data:'.length

export class EventBlocks {
  readonly #pending = new GatheredBytes()
  #isLineStart = true
  #isAfterReturn = false

  /** Bytes of an event that has no end yet. */
  get pending_bytes(): number {
    return this.#pending.length
  }

  /** The events that the chunk completes, but for those that are too short to have data. */
  *split(chunk: Buffer): Generator<Buffer> {
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]
      // The second half of a CR LF, which has ended its line.
      const isHalf = byte === line_feed && this.#isAfterReturn
      this.#isAfterReturn = byte === line_return
      if (isHalf) continue
      const isLineEnd = byte === line_feed || byte === line_return
      const isEventEnd = isLineEnd && this.#isLineStart
      this.#isLineStart = isLineEnd
      if (!isEventEnd) continue
      this.#pending.append(chunk.subarray(start, at))
      start = at + 1
      const block = this.#pending.take()
      if (block.length >= min_event_bytes) yield block
    }
    this.#pending.append(chunk.subarray(start))
  }
}

/** The values of a field of an event, in their order. */
export function readEventField(event: string, name: string): string[] {
  const start = `${name}:`
  return event
    .split(/\r\n?|\n/)
    .filter((line) => line.startsWith(start))
    .map((line) => line.slice(start.length).replace(/^ /, ''))
}
