// A client that sends bytes in pieces and reads until the other end has closed, or has sent its last byte.
import { connect } from 'node:net'

/** Far longer than any time limit of those who are tried. */
const timeout_ms = 90_000

/** All bytes that came, one character a byte. Rejects, with the sent bytes, when no end comes. */
export function readUntilClose(
  port: number,
  pieces: readonly string[],
  isLast: (text: string) => boolean = () => false,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    const over = () => {
      clearTimeout(late)
      socket.destroy()
      resolve(text)
    }
    const late = setTimeout(() => {
      reject(new Error(`no end to ${JSON.stringify(pieces)}`))
      over()
    }, timeout_ms)
    socket.setEncoding('latin1')
    socket.on('data', (piece: string) => {
      text += piece
      if (isLast(text)) over()
    })
    // An end that closes while bytes are on their way resets the connection.
    socket.on('error', () => undefined)
    socket.on('close', over)
    const write = (at: number): void => {
      const piece = pieces[at]
      if (piece === undefined || socket.destroyed) return
      socket.write(piece, 'latin1')
      setImmediate(() => write(at + 1))
    }
    socket.on('connect', () => write(0))
  })
}
