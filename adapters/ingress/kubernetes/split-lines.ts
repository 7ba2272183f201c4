// Lines of a stream of bytes, within a bound: a watch is one response whose lines are events.
import { ClusterAnswerError } from './ingress-answers.ts'

const line_feed = 0x0a

/** Without their ends; blank ones are left out. What follows the last line feed is a broken event, and is left out too. */
export async function* splitLines(chunks: AsyncIterable<Buffer>, max_bytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(line_feed); at !== -1; at = chunk.indexOf(line_feed, from)) {
      parts.push(chunk.subarray(from, at))
      const line = Buffer.concat(parts)
      from = at + 1
      parts = []
      length = 0
      if (line.length > 0) yield assertFits(line, line.length, max_bytes)
    }
    parts.push(chunk.subarray(from))
    length += chunk.length - from
    assertFits(chunk, length, max_bytes)
  }
}

function assertFits(line: Buffer, length: number, max_bytes: number): Buffer {
  if (length > max_bytes)
    throw new ClusterAnswerError(0, `the API server sent an event of more than ${max_bytes} bytes`)
  return line
}
