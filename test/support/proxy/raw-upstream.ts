// A server that sends exactly the bytes of a test, and records its requests, byte by byte.
import net from 'node:net'

export type RawConnection = {
  readonly socket: net.Socket
  /** All that has come on it, one character a byte. */
  text: string
  isClosed: boolean
}

export type RawUpstream = {
  readonly port: number
  /** In the order in which they came. */
  readonly connections: readonly RawConnection[]
  /** Request lines of all connections, by their order. */
  lines(): readonly string[]
  close(): Promise<void>
}

/** `answer` is called for each read, with the connection and how many requests have begun on it. */
export async function startRawUpstream(
  answer: (connection: RawConnection, requests: number) => void,
  options: net.ServerOpts = {},
): Promise<RawUpstream> {
  const connections: RawConnection[] = []
  const server = net.createServer(options, (socket) => {
    const connection: RawConnection = { socket, text: '', isClosed: false }
    connections.push(connection)
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.on('close', () => {
      connection.isClosed = true
    })
    socket.on('data', (text: string) => {
      connection.text += text
      answer(connection, listRequestLines(connection).length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as net.AddressInfo).port,
    connections,
    lines: () => connections.flatMap(listRequestLines),
    close: () =>
      new Promise((resolve) => {
        for (const { socket } of connections) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

const listRequestLines = ({ text }: RawConnection) => text.match(/^[A-Z]+ \S+ HTTP\/1\.1(?=\r$)/gm) ?? []
