// Answers bytes that are not a request, or not a whole one in time.
import type { ClientConnection } from './client-connection.ts'
import type { DataListenerOptions } from './data-listener.ts'

const statusLines = {
  malformed: '400 Bad Request',
  too_slow: '408 Request Timeout',
  head_too_large: '431 Request Header Fields Too Large',
} as const

/** The other end closed or broke the connection, perhaps within a request. */
const disconnectCodes = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'])

/** Bytes that are not a request, or not a whole one in time. The response repeats nothing of them. */
export function handleParserError(
  error: NodeJS.ErrnoException,
  connection: ClientConnection | undefined,
  { onConnectionFault }: DataListenerOptions,
): void {
  if (!connection || disconnectCodes.has(error.code ?? '')) {
    connection?.destroy()
    return
  }
  const fault =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'head_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'too_slow'
        : 'malformed'
  if (!connection.onParserError(fault === 'too_slow')) return
  onConnectionFault(fault)
  connection.sendFinal(`HTTP/1.1 ${statusLines[fault]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
