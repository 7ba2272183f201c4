// Bytes without an end, as fast as a client takes them.
import type { Socket } from 'node:net'

export function sendPieces(socket: Socket, pieces: Iterable<Buffer>): void {
  const iterator = pieces[Symbol.iterator]()
  const send = () => {
    for (;;) {
      const { value, done } = iterator.next()
      if (done || socket.destroyed) return
      if (!socket.write(value)) break
    }
    socket.once('drain', send)
  }
  send()
}
