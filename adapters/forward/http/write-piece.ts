// Writes a piece of a response that streams, with as few writes and allocations as there can be.
import type { ServerResponse } from 'node:http'

/** What Node writes as text from the stack. */
const max_text_bytes = 16_384
/** As much as is read at once. */
const buffer_bytes = 65_536
/** Of a thread: 4 MB. */
const max_spare_buffers = 64
const spare: Buffer[] = []

/** Text has one character a byte; bytes may be overwritten after the call. The result is that of `write`. */
export function writePiece(response: ServerResponse, bytes: Buffer | string, isHeadSent: boolean): boolean {
  if (typeof bytes !== 'string' && bytes.length > max_text_bytes) return writeCopy(response, bytes)
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1')
  const { socket } = response
  if (!socket || !isHeadSent || !response.chunkedEncoding) return response.write(text, 'latin1')
  // A chunk in one write, where Node makes four.
  return socket.write(`${text.length.toString(16)}\r\n${text}\r\n`, 'latin1')
}

/** Buffers are used again: to allocate one, and to touch its pages first, costs more than the copy and the write together. */
function writeCopy(response: ServerResponse, bytes: Buffer): boolean {
  if (bytes.length > buffer_bytes) return response.write(Buffer.from(bytes))
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(buffer_bytes)
  bytes.copy(buffer)
  return response.write(buffer.subarray(0, bytes.length), (error) => {
    // After an error the system may still have it.
    if (!error && spare.length < max_spare_buffers) spare.push(buffer)
  })
}
