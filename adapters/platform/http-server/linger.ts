// Ends a connection whose request was not read to its end, so that the client still receives the answer.
import type { Socket } from 'node:net'

/**
 * A socket that is closed with bytes unread resets the connection, and the client may lose the answer. So Node's end of
 * this connection closes the sending side only; what arrives is dropped until the client closes too, for `linger_ms`.
 */
export function lingerAtEnd(socket: Socket, linger_ms: number): void {
  socket.destroySoon = () => {
    socket.end()
    socket.resume()
    const cutOff = setTimeout(() => socket.destroy(), linger_ms).unref()
    socket.once('close', () => clearTimeout(cutOff))
  }
}
