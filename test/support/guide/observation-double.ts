// A double of the gateway's intake of observations: it answers as a test decides, and keeps what it got.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ObservationDouble = {
  readonly url: string
  readonly requests: {
    readonly path: string
    readonly headers: Readonly<Record<string, unknown>>
    readonly ids: string[]
  }[]
  /** The next requests are answered by these, and all further ones by the last; 0: the connection ends, -1: no answer. */
  answerBy(...statuses: number[]): void
  close(): Promise<void>
}

/** `ids`: of the payload of each envelope, as `n`. */
export async function startObservationDouble(): Promise<ObservationDouble> {
  let statuses = [202]
  const requests: ObservationDouble['requests'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { observations } = JSON.parse(Buffer.concat(chunks).toString())
    const ids = observations.map(({ payload }: { payload: { n: string } }) => payload.n)
    requests.push({ path: `${request.method} ${request.url}`, headers: request.headers, ids })
    const [status = 202] = statuses
    if (statuses.length > 1) statuses = statuses.slice(1)
    if (status === 0) return void request.socket.destroy()
    if (status > 0) response.writeHead(status).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerBy(...next) {
      statuses = next
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
