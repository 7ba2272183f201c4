// Reads the lines of a snapshot file: the last one first, since it holds the digest of the others.
import type { FileHandle } from 'node:fs/promises'

/** Limit of the last line, which holds two signed envelopes and many labels. */
const max_last_line_bytes = 4_194_304

/** `from`: offset of the line. Undefined where the file does not end with a line of at most 4 MB. */
export async function readLastLine(
  file: FileHandle,
  size: number,
): Promise<{ readonly line: Buffer; readonly from: number } | undefined> {
  const length = Math.min(size, max_last_line_bytes)
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, size - length)
  if (bytesRead !== length || length === 0 || buffer[length - 1] !== 0x0a) return undefined
  const previousEnd = buffer.lastIndexOf(0x0a, length - 2)
  if (previousEnd < 0 && length < size) return undefined
  return { line: buffer.subarray(previousEnd + 1, length - 1), from: size - length + previousEnd + 1 }
}

/** Yields lines without line ends, as bytes: text would hide those that are not UTF-8. Throws `RangeError` for a line above `max_bytes`, and for a file that ends within a line. */
export async function* splitIntoLines(
  chunks: AsyncIterable<Buffer>,
  max_bytes = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<Buffer> {
  let pending: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let lineEnd = chunk.indexOf(0x0a); lineEnd >= 0; lineEnd = chunk.indexOf(0x0a, start)) {
      pending.push(chunk.subarray(start, lineEnd))
      const line = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending)
      if (line.length > max_bytes) throw new RangeError('a line is too long')
      yield line
      ;[pending, length, start] = [[], 0, lineEnd + 1]
    }
    pending.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > max_bytes) throw new RangeError('a line is too long')
  }
  if (length > 0) throw new RangeError('the last line is cut short')
}
