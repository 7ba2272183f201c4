// Lines of a snapshot's file: the last one first, since it says what the others must be.
import type { FileHandle } from 'node:fs/promises'

/** Of the last line: two signed envelopes and many labels, and no more. */
const max_last_line_bytes = 4_194_304

/** `from`: where it begins. Undefined where the file does not end with a line of at most four megabytes. */
export async function readLastLine(
  file: FileHandle,
  size: number,
): Promise<{ readonly text: string; readonly from: number } | undefined> {
  const length = Math.min(size, max_last_line_bytes)
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, size - length)
  if (bytesRead !== length || length === 0 || buffer[length - 1] !== 0x0a) return undefined
  const before = buffer.lastIndexOf(0x0a, length - 2)
  if (before < 0 && length < size) return undefined
  return { text: buffer.toString('utf8', before + 1, length - 1), from: size - length + before + 1 }
}

/** Without their ends. Throws `RangeError` for a line of more than `most` bytes, and for an end that is no line's. */
export async function* splitIntoLines(
  chunks: AsyncIterable<Buffer>,
  most = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<string> {
  let pending: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      pending.push(chunk.subarray(from, at))
      const whole = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending)
      if (whole.length > most) throw new RangeError('a line is too long')
      yield whole.toString('utf8')
      ;[pending, length, from] = [[], 0, at + 1]
    }
    pending.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > most) throw new RangeError('a line is too long')
  }
  if (length > 0) throw new RangeError('the last line is cut short')
}
