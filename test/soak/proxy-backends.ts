// Backends of a soaked proxy, each a process of its own that is killed: `upstream PORT`, or `provider PORT` of short-lived tokens.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { proxyClientSecret, upstreamServiceToken } from '../support/proxy/packaged-proxy.ts'

/** So short that each soak sees renewals, and deaths between them. */
const token_life_s = 4
const piece = Buffer.alloc(65_536, 'x')
const pieces = 6

/** A request without the token reveals a fault of the proxy: each request of the soak must get 200. */
function serveUpstream(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.authorization !== `Bearer ${upstreamServiceToken}`) response.writeHead(401).end()
  else if (request.url?.startsWith('/api/v1/large/')) {
    for (let at = 0; at < pieces; at += 1) response.write(piece)
    response.end()
  } else if (request.method === 'POST') {
    let bytes = 0
    request.on('data', (some: Buffer) => (bytes += some.length))
    request.on('end', () => response.end(`${bytes}\n`))
  } else response.setHeader('content-length', 9).end('{"ok":1}\n')
}

function serveProvider(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  request.on('end', () => {
    const isClient =
      request.headers.authorization === `Basic ${Buffer.from(`door:${proxyClientSecret}`).toString('base64')}`
    if (!isClient) response.writeHead(401).end()
    else
      response.end(
        JSON.stringify({ access_token: upstreamServiceToken, token_type: 'Bearer', expires_in: token_life_s }),
      )
  })
}

const [kind, port] = process.argv.slice(2)
createServer(kind === 'provider' ? serveProvider : serveUpstream).listen(Number(port), '127.0.0.1')
