// The HTTP client against real servers on this machine: limits, failures, connections, redirects and proxies.
import { mkdtempSync, rmSync } from 'node:fs'
import * as http from 'node:http'
import * as net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { addressRule } from '../address-rule/address-rule.ts'
import type { AddressResolver } from '../address-rule/checked-lookup.ts'
import { HttpClient, type HttpClientOptions, type HttpRequest } from './http-client.ts'
import { HttpClientError } from './http-client-error.ts'

const loopback = { rule: addressRule(['127.0.0.0/8']) }

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
async function findFailure(url: string, request: HttpRequest = get, options: HttpClientOptions = loopback) {
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
  const client = new HttpClient(loopback)
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
  expect((await new HttpClient(loopback).send(url, get)).status).toBe(302)
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
    const response = await new HttpClient(loopback).send(url, { ...get, limits: { head_ms: 100 } })
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
    const response = await new HttpClient(loopback).send(url, { ...get, signal: ending.signal })
    ending.abort()
    await expect(response.readBytes(9)).rejects.toMatchObject({ failure: 'aborted' })
    expect(await findFailure(url, { ...get, signal: ending.signal })).toMatchObject({ failure: 'aborted' })
    expect(count).toBe(1)
  })
})

test('a request begins a trace, unless its caller sends one or the service is a local socket', async () => {
  const traces: unknown[] = []
  const listener: http.RequestListener = ({ headers }, response) => {
    traces.push([headers.traceparent, headers.tracestate])
    response.end()
  }
  const url = await serve(listener)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
  for (const headers of [{}, {}, { traceparent, tracestate: 'rojo=1' }, { traceparent }])
    await new HttpClient(loopback).send(url, { ...get, headers })
  const begun = traces.splice(0, 2) as [string, undefined][]
  for (const [trace] of begun) expect(trace).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-03$/)
  expect(new Set(begun.map(([trace]) => trace)).size).toBe(2)
  expect(traces.splice(0)).toEqual([
    [traceparent, 'rojo=1'],
    [traceparent, undefined],
  ])
  const socket_path = path.join(mkdtempSync(path.join(tmpdir(), 'http-client-')), 'a.sock')
  const local = http.createServer(listener)
  openServers.push(local)
  await new Promise<void>((resolve) => local.listen(socket_path, resolve))
  await new HttpClient({ socket_path }).send('http://localhost', get)
  expect(traces).toEqual([[undefined, undefined]])
  rmSync(path.dirname(socket_path), { recursive: true })
})

describe('connections', () => {
  async function countConnections(options: { readonly max_connections?: number }) {
    const header: unknown[] = []
    const url = await serve((request, response) => {
      header.push(request.headers.connection)
      response.end('x')
    })
    const client = new HttpClient({ ...loopback, ...options })
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
    const client = new HttpClient({ ...loopback, max_connections: 2 })
    const response = await client.send(await serve((_, answer) => void answer.writeHead(200).write('x')), get)
    client.close()
    await expect(response.readBytes(9)).rejects.toMatchObject({ failure: 'broken_off' })
  })
})

describe('an address that the rule refuses', () => {
  const strict = addressRule([])

  /** A server that counts its connections, and its port. */
  async function startCounted(text = 'x') {
    const url = await serve((_, response) => response.end(text))
    const before = sockets.size
    return { port: new URL(url).port, countConnections: () => sockets.size - before }
  }

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '127.0.0.1.',
    '１２７.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '0.0.0.0',
    'localhost',
    'LOCALHOST',
  ])('is not connected to as %s', async (host) => {
    const { port, countConnections } = await startCounted()
    const error = await findFailure(`http://${host}:${port}/`, get, { rule: strict })
    expect(error).toMatchObject({ failure: 'address', code: 'ADDRESS_DENIED', message: /not in a trusted network/ })
    expect(countConnections()).toBe(0)
  })

  test('is refused at the next connection of a name that has changed its address, and not before', async () => {
    const { port, countConnections } = await startCounted()
    const answers = ['127.0.0.1', '127.0.0.1', '169.254.169.254', '10.0.0.1']
    const lookups: string[] = []
    const resolve: AddressResolver = (host, done) => {
      lookups.push(host)
      done(null, [{ address: answers.shift() ?? '', family: 4 }])
    }
    const client = new HttpClient({ ...loopback, resolve })
    const url = `http://rebind.example:${port}/`
    for (const _ of ['checked', 'and connected']) await (await client.send(url, get)).readBytes(1)
    await expect(client.send(url, get)).rejects.toMatchObject({ failure: 'address', message: /169\.254\.169\.254/ })
    expect(lookups).toEqual(Array.from({ length: 3 }, () => 'rebind.example'))
    expect(countConnections()).toBe(2)
  })

  test.each([
    ['IPv4', '127.0.0.1', '10.0.0.1'],
    ['IPv6', '127.0.0.1', 'fd00::1'],
    ['a mapped address', '127.0.0.1', '::ffff:169.254.169.254'],
    ['a link-local address with its zone', '127.0.0.1', 'fe80::1%lo'],
  ])('closes a name that has another address which is allowed: %s', async (_, ...addresses) => {
    const { port, countConnections } = await startCounted()
    const resolve: AddressResolver = (_host, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    const error = await findFailure(`http://two.example:${port}/`, get, { ...loopback, resolve })
    expect(error).toMatchObject({ failure: 'address' })
    expect(countConnections()).toBe(0)
  })

  test('is not reached by a redirect, nor through a header', async () => {
    const received: unknown[] = []
    const target = await serve((request, response) => {
      received.push(request.url)
      response.end()
    })
    const url = await serve((_, response) => response.writeHead(302, { location: target }).end())
    const resolve: AddressResolver = (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }])
    const client = new HttpClient({ ...loopback, resolve })
    const headers = { host: new URL(target).host }
    const response = await client.send(`http://up.example:${new URL(url).port}/`, { ...get, headers })
    expect([response.status, received]).toEqual([302, []])
  })

  test('is refused with TLS as well, before a byte is sent', async () => {
    const { port, countConnections } = await startCounted()
    expect(await findFailure(`https://127.0.0.1:${port}/`, get, { rule: strict })).toMatchObject({ failure: 'address' })
    expect(await findFailure(`https://localhost:${port}/`, get, { rule: strict })).toMatchObject({ failure: 'address' })
    expect(countConnections()).toBe(0)
  })
})
