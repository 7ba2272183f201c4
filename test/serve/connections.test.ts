// The listener below the level of requests: bytes that are not HTTP, slow clients, crowds, sockets, TLS, and the end.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { problem } from '../../daemon/kernel/error/problem.ts'
import { adminHeaders, type EchoServer, jsonHeaders, startEchoServer } from '../support/echo/echo-server.ts'
import { formatRawRequest, type RawHttpResponse, sendRawHttp } from '../support/http/send-raw-http.ts'
import { requires } from '../support/runner/requires.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'serve-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function expectProblem(answer: RawHttpResponse, status: number) {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(problem.parse(JSON.parse(answer.body)).status).toBe(status)
}

const waitForCalls = ({ echo }: EchoServer, count: number) =>
  expect.poll(() => echo.controls.signals.length).toBe(count)

describe('bytes that are not a request', () => {
  test.each([
    ['noise', '\0\x01\x02nonsense\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['no version', 'GET /open\r\nhost: t\r\n\r\n'],
    ['an unknown version', 'GET /open HTTP/9.9\r\nhost: t\r\n\r\n'],
    ['an unknown method', 'BREW /open HTTP/1.1\r\nhost: t\r\n\r\n'],
    ['a space before the colon', 'GET /open HTTP/1.1\r\nhost : t\r\n\r\n'],
    ['a control character in a header', 'GET /open HTTP/1.1\r\nhost: t\r\nx: a\0b\r\n\r\n'],
    ['no Host', 'GET /open HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['two lengths', 'POST /any HTTP/1.1\r\nhost: t\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'],
    [
      'a length and chunks',
      'POST /any HTTP/1.1\r\nhost: t\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'POST /any HTTP/1.1\r\nhost: t\r\ncontent-length: -1\r\n\r\n'],
    ['a coding that is not chunked', 'POST /any HTTP/1.1\r\nhost: t\r\ntransfer-encoding: gzip\r\n\r\n'],
  ])('%s is answered 400, in the form of every refusal', async (_what, bytes) => {
    const { server } = await startEchoServer()
    expectProblem(await sendRawHttp({ port: server.port }, Buffer.from(bytes, 'latin1')), 400)
  })

  test('a chunk that is not one is answered 400', async () => {
    const { request: ask } = await startEchoServer()
    const headers = { ...adminHeaders, ...jsonHeaders, 'transfer-encoding': 'chunked' }
    expectProblem(await ask('POST /any', headers, 'zz\r\n{}\r\n0\r\n\r\n'), 400)
  })

  test('too many bytes of header are answered 431', async () => {
    const { request: ask } = await startEchoServer()
    expectProblem(await ask('GET /open', { x: 'y'.repeat(20_000) }), 431)
  })

  test('the service goes on', async () => {
    const { request: ask, server, metrics } = await startEchoServer()
    await sendRawHttp({ port: server.port }, 'nonsense\r\n\r\n')
    expect((await ask('GET /open')).status).toBe(200)
    expect(await metrics.text()).toContain('http_requests_total{operation="none",status="400"} 1')
  })
})

describe('slow clients', () => {
  const limits = { headers_ms: 150, receive_ms: 300 }

  test('a head that does not arrive is answered 408', async () => {
    const { server } = await startEchoServer({ limits })
    expectProblem(await sendRawHttp({ port: server.port }, 'GET /open HTTP/1.1\r\nhost: t\r\nx: '), 408)
  })

  test('a body that does not arrive is answered 408', async () => {
    const { request: ask, echo } = await startEchoServer({ limits })
    expectProblem(await ask('POST /any', { ...adminHeaders, ...jsonHeaders, 'content-length': '10' }, '{"a":'), 408)
    expect(echo.controls.verified).toEqual(['alice.admin'])
  })

  test('a connection that says nothing is closed', async () => {
    const { server } = await startEchoServer({ limits })
    const silent = sendRawHttp({ port: server.port }, '').catch((error: Error) => error.message)
    expect(await silent).toMatchObject({ status: 408 })
  })
})

describe('too much to do', () => {
  test('gives up an operation that takes too long, and drops its late answer', async () => {
    const world = await startEchoServer({ limits: { request_ms: 60 } })
    const answer = await world.request('POST /wait')
    expectProblem(answer, 503)
    expect(JSON.parse(answer.body).code).toBe('timeout')
    expect(answer.headers['retry-after']).toBe('1')
    expect(world.echo.controls.signals[0]?.aborted).toBe(true)
    world.echo.controls.release()
    expect((await world.request('GET /open')).status).toBe(200)
  })

  test('a request beyond the limit gets a retry time, and one is let in when one leaves', async () => {
    const world = await startEchoServer({ limits: { unidentified: 1 } })
    const first = world.request('POST /wait')
    await waitForCalls(world, 1)
    const second = await world.request('GET /open')
    expectProblem(second, 503)
    expect(second.headers['retry-after']).toBe('1')
    world.echo.controls.release()
    expect((await first).status).toBe(200)
    await expect.poll(async () => (await world.request('GET /open')).status).toBe(200)
  })

  test('a client that hangs up aborts its call', async () => {
    const world = await startEchoServer()
    const socket = net.connect(world.server.port, '127.0.0.1')
    socket.write(formatRawRequest('POST /wait'))
    await waitForCalls(world, 1)
    socket.destroy()
    await expect.poll(() => world.echo.controls.signals[0]?.aborted).toBe(true)
    await expect.poll(() => world.metrics.text()).toContain('{operation="test.echo.wait",status="aborted"} 1')
  })
})

describe('the end', () => {
  test('finishes requests under way, and lets nobody new in', async () => {
    const world = await startEchoServer()
    const idle = net.connect(world.server.port, '127.0.0.1')
    const idleClosed = new Promise((resolve) => idle.once('close', resolve))
    const under = world.request('POST /wait', { connection: 'keep-alive' })
    await waitForCalls(world, 1)
    const closed = world.server.close(60_000)
    await expect(sendRawHttp({ port: world.server.port }, formatRawRequest('GET /open'))).rejects.toThrow(
      /ECONNREFUSED/,
    )
    world.echo.controls.release()
    expect(await under).toMatchObject({ status: 200, headers: { connection: 'close' } })
    await closed
    idle.destroy()
    await idleClosed
  })

  test('a request that came behind another on its connection is not begun', async () => {
    const world = await startEchoServer()
    const wait = formatRawRequest('POST /wait', { connection: 'keep-alive' })
    const both = sendRawHttp({ port: world.server.port }, wait + formatRawRequest('GET /open'))
    await waitForCalls(world, 1)
    const closed = world.server.close(60_000)
    world.echo.controls.release()
    expect((await both).text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
    await closed
  })

  test('cuts off requests that are unfinished at the deadline', async () => {
    const world = await startEchoServer()
    const cut = expect(world.request('POST /wait')).rejects.toThrow(/without an answer|ECONNRESET/)
    await waitForCalls(world, 1)
    await world.server.close(20)
    await cut
    expect(world.echo.controls.signals[0]?.aborted).toBe(true)
  })
})

describe('a socket file', () => {
  const on = (socket: string) => startEchoServer({ listen: { socket } })

  test('is for its owner alone, and gone at the end', async () => {
    const socket = path.join(folder, 'run', 'site.sock')
    const { server } = await on(socket)
    expect(server.url).toBe(`unix:${socket}`)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700)
    expect((await sendRawHttp({ path: socket }, formatRawRequest('GET /open'))).status).toBe(200)
    await server.close(0)
    expect(existsSync(socket)).toBe(false)
  })

  test('is for a group as well where that is wanted, in a folder that the group may not write to', async () => {
    const group = process.getgid?.() ?? 0
    const open = path.join(folder, 'shared')
    mkdirSync(open)
    chmodSync(open, 0o750)
    const listen = { socket: path.join(open, 'sock'), group }
    await startEchoServer({ listen })
    const { mode, gid } = statSync(listen.socket)
    expect([mode & 0o777, gid]).toEqual([0o660, group])
    for (const mode of [0o770, 0o755, 0o751]) {
      chmodSync(open, mode)
      await expect(startEchoServer({ listen: { ...listen, socket: path.join(open, 'other') } })).rejects.toThrow(
        /closed to others/,
      )
    }
    chmodSync(open, 0o750)
    const foreign = { socket: path.join(open, 'other'), group: group + 1 }
    await expect(startEchoServer({ listen: foreign })).rejects.toThrow(/closed to others/)
  })

  test('that cannot be given to its group does not stay open', async () => {
    const socket = path.join(folder, 'own', 'sock')
    const noGroup = -5
    await expect(startEchoServer({ listen: { socket, group: noGroup } })).rejects.toThrow(/gid/)
    expect(existsSync(socket)).toBe(false)
  })

  test('left by a crash is replaced', async () => {
    const socket = path.join(folder, 'site.sock')
    const crash = `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`
    expect(() => execFileSync(process.execPath, ['-e', crash])).toThrow()
    expect(statSync(socket).isSocket()).toBe(true)
    await on(socket)
    expect((await sendRawHttp({ path: socket }, formatRawRequest('GET /open'))).status).toBe(200)
  })

  test('in use, of another kind, or in an open folder stays as it is', async () => {
    const socket = path.join(folder, 'site.sock')
    await on(socket)
    await expect(on(socket)).rejects.toThrow(/another process listens/)
    expect((await sendRawHttp({ path: socket }, formatRawRequest('GET /open'))).status).toBe(200)

    const file = path.join(folder, 'precious.txt')
    writeFileSync(file, 'precious')
    await expect(on(file)).rejects.toThrow(/not a socket/)
    expect(readFileSync(file, 'utf8')).toBe('precious')

    const open = path.join(folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o755)
    await expect(on(path.join(open, 'site.sock'))).rejects.toThrow(/closed to others/)
  })
})

test('a port that is taken is an error that names it', async () => {
  const { server } = await startEchoServer()
  await expect(startEchoServer({ listen: { host: '127.0.0.1', port: server.port } })).rejects.toThrow(/EADDRINUSE/)
})

describe('TLS', () => {
  function pair() {
    const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  }

  const get = (url: string, options: https.RequestOptions) =>
    new Promise<number | undefined>((resolve, reject) => {
      const outgoing = https.get(`${url}/open`, { agent: false, ...options }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode))
      })
      outgoing.on('error', reject)
    })

  requires('openssl')('speaks TLS 1.2 and 1.3, not 1.1', async () => {
    const tls = pair()
    const { url } = await startEchoServer({ tls })
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(await get(url, { ca: tls.cert, minVersion: 'TLSv1.3' })).toBe(200)
    expect(await get(url, { ca: tls.cert, maxVersion: 'TLSv1.2' })).toBe(200)
    await expect(get(url, { ca: tls.cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).rejects.toThrow()
  })

  requires('openssl')('with an authority, a client without a certificate is turned away', async () => {
    const tls = pair()
    const { url } = await startEchoServer({ tls: { ...tls, ca: tls.cert } })
    expect(await get(url, { ca: tls.cert, key: tls.key, cert: tls.cert })).toBe(200)
    await expect(get(url, { ca: tls.cert })).rejects.toThrow()
  })
})

test('connections that send no request displace one another, and no identified one', async () => {
  const limits = { pending_connections: 3, pending_connections_per_address: 2 }
  const { server, echo } = await startEchoServer({ limits })
  const connect = async () => {
    const client = { socket: net.connect(server.port, '127.0.0.1'), text: '', isClosed: false }
    onTestFinished(() => void client.socket.destroy())
    client.socket.on('data', (bytes) => {
      client.text += bytes
    })
    client.socket.on('close', () => {
      client.isClosed = true
    })
    await once(client.socket, 'connect')
    return client
  }
  const known = await connect()
  known.socket.write(formatRawRequest('POST /any', { connection: 'keep-alive', ...adminHeaders }))
  await expect.poll(() => known.text).toContain('200 OK')
  const silent: Awaited<ReturnType<typeof connect>>[] = []
  for (let count = 0; count < 6; count++) silent.push(await connect())
  await expect.poll(() => silent.map(({ isClosed }) => isClosed)).toEqual([true, true, true, true, false, false])
  known.socket.write(formatRawRequest('POST /any', adminHeaders))
  await expect.poll(() => known.text.match(/200 OK/g)?.length).toBe(2)
  const lines = echo.controls.logged.filter(([, event]) => event === 'http.connection.displaced')
  expect(lines).toMatchObject([['warn', 'http.connection.displaced', { from: '127.0.0.1', times: 1 }]])
})
