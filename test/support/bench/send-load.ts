// Sends HTTP/1.1 requests over kept-open raw sockets, so that the client costs as little as possible beside the measured server.
import { connect, type Socket } from 'node:net'

export type LoadRequest = { readonly path: string; readonly body: string }

export type LoadOptions = {
  readonly port: number
  readonly clients: number
  readonly headers: string
  /** The next request; undefined when there is none. */
  readonly next: () => LoadRequest | undefined
  /** Called with each answer's body; throwing ends the load. */
  readonly answered?: (body: string) => void
}

/** Sends until there is nothing more to send, one request under way for each client. Requests a second. Throws on any answer but 2xx. */
export async function sendLoad(options: LoadOptions): Promise<number> {
  let sent = 0
  const count = () => sent++
  const began = performance.now()
  await Promise.all(Array.from({ length: options.clients }, () => runClient(options, count)))
  return (sent * 1_000) / (performance.now() - began)
}

function runClient(options: LoadOptions, count: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true })
    let received = ''
    const shoot = () => {
      const shot = options.next()
      if (!shot) {
        socket.destroy()
        resolve()
        return
      }
      sendRequest(socket, options, shot)
    }
    socket.setEncoding('latin1')
    socket.on('connect', shoot)
    socket.on('error', reject)
    socket.on('data', (part: string) => {
      received += part
      const end = measureWholeResponse(received)
      if (end === undefined) return
      const answer = received.slice(0, end)
      received = received.slice(end)
      if (!/^HTTP\/1\.1 2/.test(answer)) {
        socket.destroy()
        reject(new Error(answer))
        return
      }
      count()
      options.answered?.(answer.slice(answer.indexOf('\r\n\r\n') + 4))
      shoot()
    })
  })
}

function sendRequest(socket: Socket, { headers }: LoadOptions, { path, body }: LoadRequest): void {
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Length of the first answer in the text, when all of it is there; answers carry a Content-Length. */
function measureWholeResponse(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  const end = head + 4 + Number(length ?? 0)
  return text.length >= end ? end : undefined
}
