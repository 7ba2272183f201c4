// The HTTP client against real servers on this machine: limits, failures, connections, redirects and proxies.
import * as http from 'node:http'
import * as net from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { HttpClient, type HttpClientOptions, type HttpRequest } from './http-client.ts'
import { HttpClientError } from './http-client-error.ts'

const openServers: net.Server[] = []
const sockets = new Set<net.Socket>()
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  for (const server of openServers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

async function listen(server: net.Server): Promise<string> {
  openServers.push(server)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
}

const serve = (handler: http.RequestListener) => listen(http.createServer(handler))
const answerRaw = (text: string) =>
  listen(net.createServer((socket) => socket.once('data', () => socket.end(text.replaceAll('\n', '\r\n')))))

const get: HttpRequest = { method: 'GET', limits: { total_ms: 5_000 } }

/** The failure of a request and of reading at most 1,000 bytes of its response. */
async function findFailure(url: string, request: HttpRequest = get, options: HttpClientOptions = {}) {
  const error: unknown = await new HttpClient(options)
    .send(url, request)
    .then((response) => response.readBytes(1_000))
    .catch((thrown: unknown) => thrown)
  if (!(error instanceof HttpClientError)) throw new Error(`not a failed request: ${String(error)}`)
  return error
}

test('a request arrives unchanged, and its response is returned complete', async () => {
  const received: unknown[] = []
  const url = await serve(async (request, response) => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString()
    received.push([request.method, request.url, request.headers['content-length'], request.headers.authorization, body])
    response.writeHead(418, { etag: '"1"', 'set-cookie': ['a', 'b'] }).end('short')
  })
  const client = new HttpClient()
  const sent = { ...get, method: 'POST', body: 'ž', path: '/a/../b?c' }
  const response = await client.send(url.replace('//', '//user:p%40ss@'), sent)
  expect((await response.readBytes(5)).toString()).toBe('short')
  expect([response.status, response.header('etag'), response.header('set-cookie'), response.header('x')]).toEqual([
    418,
    '"1"',
    'a',
    undefined,
  ])
  const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
  expect(received).toEqual([['POST', '/a/../b?c', '2', authorization, 'ž']])
})

test('neither a redirect nor a proxy from the environment is followed', async () => {
  const url = await serve((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1')
  expect((await new HttpClient().send(url, get)).status).toBe(302)
})

describe('a limit', () => {
  test.each([
    ['of the whole exchange ends a response that drips', { total_ms: 60 }, 'timeout'],
    ['of the time without a byte ends a response that stops', { idle_ms: 60 }, 'idle'],
  ] as const)('%s', async (_, limits, failure) => {
    const url = await serve((_request, response) => {
      response.writeHead(200).write('x')
      if (failure === 'idle') return
      const timer = setInterval(() => response.write('x'), 5)
      response.on('close', () => clearInterval(timer))
    })
    expect(await findFailure(url, { ...get, limits })).toMatchObject({ failure })
  })

  test.each([
    ['head', { head_ms: 60 }, 'timeout'],
    ['first byte', { idle_ms: 60 }, 'idle'],
  ] as const)('applies when no %s arrives', async (_, limits, failure) => {
    expect(await findFailure(await serve(() => undefined), { ...get, limits })).toMatchObject({ failure })
  })

  test('of the head does not end a body that follows', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200).write('x')
      const timer = setInterval(() => response.end('y'), 120)
      response.on('close', () => clearInterval(timer))
    })
    const response = await new HttpClient().send(url, { ...get, limits: { head_ms: 100 } })
    expect((await response.readBytes(2)).toString()).toBe('xy')
  })

  test('of the size ends the response that is larger, and its connection', async () => {
    let isClosed = false
    const url = await serve((request, response) => {
      request.socket.on('close', () => (isClosed = true))
      response.write('x'.repeat(1_001))
    })
    expect(await findFailure(url)).toMatchObject({ failure: 'too_large' })
    await expect.poll(() => isClosed).toBe(true)
  })
})

describe('a request fails', () => {
  test.each([
    ['hangs up', '', 'unreachable', 'ECONNRESET'],
    ['speaks something else', '220 mail.example ESMTP\n', 'unreachable', 'INVALID_HTTP_RESPONSE'],
    ['breaks off a body', 'HTTP/1.1 200 OK\ncontent-length: 9\n\nx', 'broken_off', 'ECONNRESET'],
    ['breaks off a chunk', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n9\nx', 'broken_off', undefined],
    ['changes the protocol', 'HTTP/1.1 101 X\nconnection: upgrade\nupgrade: x\n\n', 'unreachable', 'ECONNRESET'],
  ])('at a server that %s', async (_, text, failure, code) => {
    const error = await findFailure(await answerRaw(text))
    expect(error).toMatchObject({ failure, ...(code === undefined ? {} : { code }) })
  })

  test('where nothing listens, and at a missing socket', async () => {
    expect(await findFailure('http://127.0.0.1:1/')).toMatchObject({ failure: 'unreachable', code: 'ECONNREFUSED' })
    const missing = { socket_path: 'no-such.sock' }
    expect(await findFailure('http://localhost', get, missing)).toMatchObject({
      failure: 'unreachable',
      code: 'ENOENT',
    })
  })

  test('when its caller aborts, before it or during the response', async () => {
    let count = 0
    const ending = new AbortController()
    const url = await serve((_, response) => {
      count += 1
      response.writeHead(200).write('x')
    })
    const response = await new HttpClient().send(url, { ...get, signal: ending.signal })
    ending.abort()
    await expect(response.readBytes(9)).rejects.toMatchObject({ failure: 'aborted' })
    expect(await findFailure(url, { ...get, signal: ending.signal })).toMatchObject({ failure: 'aborted' })
    expect(count).toBe(1)
  })
})

describe('connections', () => {
  async function countConnections(options: HttpClientOptions) {
    const header: unknown[] = []
    const url = await serve((request, response) => {
      header.push(request.headers.connection)
      response.end('x')
    })
    const client = new HttpClient(options)
    const before = sockets.size
    for (let sent = 0; sent < 3; sent += 1) await (await client.send(url, get)).readBytes(1)
    const count = sockets.size - before
    client.close()
    return [count, header[0]]
  }

  test('serve one request each, unless the client keeps them', async () => {
    expect(await countConnections({})).toEqual([3, 'close'])
    expect(await countConnections({ max_connections: 1 })).toEqual([1, 'keep-alive'])
  })

  test('end with the client', async () => {
    const client = new HttpClient({ max_connections: 2 })
    const response = await client.send(await serve((_, answer) => void answer.writeHead(200).write('x')), get)
    client.close()
    await expect(response.readBytes(9)).rejects.toMatchObject({ failure: 'broken_off' })
  })
})
