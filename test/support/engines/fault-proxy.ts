// A proxy between a client and a server that loses a request, a response, or all traffic, as a test injects.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * `question`: the connection breaks before the server has heard anything. `answer`: the server has answered, and the
 * connection breaks before the client hears. `silence`: connections stay open, and nothing goes through.
 */
export type ProxyFault = 'question' | 'answer' | 'silence'

export type FaultProxy = {
  readonly url: string
  /** The fault of the next request whose text matches; `silence` lasts until `clearFault`. */
  inject(how: ProxyFault, matching: RegExp): void
  clearFault(): void
  /** The number of cuts. */
  readonly faultCount: number
  end(): Promise<void>
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let planned: { readonly how: ProxyFault; readonly matching: RegExp } | undefined
  let cuts = 0
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    let losing: ProxyFault | undefined
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (bytes) => {
      if (planned?.matching.test(bytes.toString('latin1'))) {
        losing = planned.how
        if (losing !== 'silence') planned = undefined
        cuts += 1
      }
      if (losing === 'question') near.destroy()
      else if (losing !== 'silence') far.write(bytes)
    })
    far.on('data', (bytes) => {
      if (losing === 'answer') near.destroy()
      else near.write(bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    inject(how, matching) {
      planned = { how, matching }
    },
    clearFault() {
      planned = undefined
      for (const socket of sockets) socket.destroy()
    },
    get faultCount() {
      return cuts
    },
    async end() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
