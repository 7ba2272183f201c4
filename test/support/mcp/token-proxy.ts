// Stands before /agentspace for clients that cannot send a token: adds it to every request, and passes all else on.
import { once } from 'node:events'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'

export type TokenProxy = { readonly url: string; close(): Promise<void> }

/** `Host` and `Origin` go through unchanged: some of these clients test them. */
export async function startTokenProxy(target_port: number, token: string): Promise<TokenProxy> {
  const server = http.createServer((request, response) => {
    const { method, url, headers } = request
    const onward = http.request({
      host: '127.0.0.1',
      port: target_port,
      method,
      path: url,
      headers: { ...headers, authorization: `Bearer ${token}` },
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
