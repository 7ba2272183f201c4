// Posts to real receivers, good and bad: what they get can be verified, and whatever goes wrong is to be tried again.

import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import * as http from 'node:http'
import * as net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { sampleTrace } from '../../../test/support/trace/sample-trace.ts'
import { postWebhook } from './webhook.ts'

const dir = mkdtempSync(path.join(tmpdir(), 'webhook-post-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const secret = 'a-secret-that-nobody-may-see'
const secret_file = path.join(dir, 'secret')
writeFileSync(secret_file, `${secret}\n`, { mode: 0o600 })
const now_ms = Date.parse('2026-03-02T12:00:00.999Z')

const callContext = { trace: sampleTrace, signal: new AbortController().signal }

const openServers: net.Server[] = []
const sockets = new Set<net.Socket>()
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const server of openServers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

async function listenLocally(server: net.Server): Promise<string> {
  openServers.push(server)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/hook?key=in-the-url`
}

type ReceivedWebhook = { readonly method: string; readonly headers: http.IncomingHttpHeaders; readonly text: string }

async function startReceiver(answer: (response: http.ServerResponse) => void) {
  const got: ReceivedWebhook[] = []
  const url = await listenLocally(
    http.createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      got.push({ method: request.method ?? '', headers: request.headers, text: Buffer.concat(parts).toString('utf8') })
      answer(response)
    }),
  )
  return { url, got }
}

/** What the sender says of a post that failed; it must be a refusal that is tried again, and silent about secrets. */
async function postAndReadRefusal(url: string, limit_ms?: number, file = secret_file): Promise<string> {
  const error: unknown = await postWebhook({ url, secret_file: file }, { n: 1 }, callContext, now_ms, limit_ms).catch(
    (thrown: unknown) => thrown,
  )
  if (!isRefusal(error)) throw new Error(`it is no refusal: ${String(error)}`)
  expect([error.code, error.row.retryable]).toEqual(['unavailable', true])
  expect(JSON.stringify([error.message, error.errors, error.stack])).not.toMatch(/nobody-may-see|in-the-url/)
  return error.message
}

test('the receiver can verify what it got, bytes beyond ASCII included', async () => {
  const { url, got } = await startReceiver((response) => response.writeHead(204).end())
  const body = { id: 'e1', name: 'Žofie „1“', nested: { list: [1, null] } }
  await postWebhook({ url, secret_file }, body, callContext, now_ms)
  const [{ method, headers, text }] = got as [ReceivedWebhook]
  expect([method, headers['content-type'], JSON.parse(text)]).toEqual(['POST', 'application/json', body])
  const at = Math.floor(now_ms / 1_000)
  const seal = createHmac('sha256', secret).update(`${at}.${text}`).digest('hex')
  expect(headers['x-platform-signature']).toBe(`t=${at},v1=${seal}`)
  expect(JSON.stringify(got)).not.toContain(secret)
})

test('the receiver is told of the trace that the message belongs to, and of no state where there is none', async () => {
  const { url, got } = await startReceiver((response) => response.writeHead(204).end())
  await postWebhook({ url, secret_file }, {}, callContext, now_ms)
  await postWebhook({ url, secret_file }, {}, { ...callContext, trace: { ...sampleTrace, tracestate: '' } }, now_ms)
  const [first, second] = got as [ReceivedWebhook, ReceivedWebhook]
  const traceparent = `00-${sampleTrace.trace_id}-${sampleTrace.span_id}-01`
  expect(first.headers).toMatchObject({ traceparent, tracestate: sampleTrace.tracestate })
  expect(second.headers).toMatchObject({ traceparent })
  expect(second.headers).not.toHaveProperty('tracestate')
})

test.each([200, 201, 202, 204])('%i is taken for done', async (status) => {
  const { url, got } = await startReceiver((response) => response.writeHead(status).end())
  await postWebhook({ url, secret_file }, {}, callContext, now_ms)
  expect(got).toHaveLength(1)
})

test.each([301, 302, 303, 304, 307, 308])('%i is not followed, and is no success', async (status) => {
  const elsewhere = await startReceiver((response) => response.writeHead(204).end())
  const { url } = await startReceiver((response) => response.writeHead(status, { location: elsewhere.url }).end())
  expect(await postAndReadRefusal(url)).toBe(`the webhook answered ${status}`)
  expect(elsewhere.got).toEqual([])
})

test.each([400, 401, 404, 410, 429, 500, 503])('%i is to be tried again', async (status) => {
  const { url } = await startReceiver((response) => response.writeHead(status).end('the body is not repeated'))
  expect(await postAndReadRefusal(url)).toBe(`the webhook answered ${status}`)
})

describe('a receiver that misbehaves', () => {
  const raw = (speak: (socket: net.Socket) => void) =>
    listenLocally(net.createServer((socket) => socket.once('data', () => speak(socket))))

  test.each<[string, (socket: net.Socket) => void]>([
    ['says nothing', () => undefined],
    ['drips headers', (socket) => sendSlowly(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n')],
    ['goes on saying that it will', (socket) => sendSlowly(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n')],
  ])('%s: the sender gives up', async (_, speak) => {
    expect(await postAndReadRefusal(await raw(speak), 100)).toContain('did not answer within 100 ms')
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['hangs up', (socket) => socket.end()],
    ['cuts the connection', (socket) => socket.resetAndDestroy()],
    ['speaks something else', (socket) => socket.end('220 mail.example ESMTP\r\n')],
    [
      'changes the protocol',
      (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('%s: the sender knows at once', async (_, speak) => {
    expect(await postAndReadRefusal(await raw(speak))).toContain('the webhook cannot be reached')
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['never ends its body', (socket) => sendSlowly(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n', 'x')],
    ['breaks off its body', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\nx')],
  ])('%s: it has said that it took the message', async (_, speak) => {
    await postWebhook({ url: await raw(speak), secret_file }, {}, callContext, now_ms, 100)
  })
})

test('when its call ends the sender gives up at once, and the message is to be tried again', async () => {
  const ending = new AbortController()
  let heard = 0
  const { url } = await startReceiver(() => {
    heard += 1
    ending.abort()
  })
  const post = () =>
    postWebhook({ url, secret_file }, {}, { ...callContext, signal: ending.signal }, now_ms, 60_000).catch(
      (error: unknown) => error,
    )
  for (const error of [await post(), await post()]) {
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('stopping') })
  }
  expect(heard).toBe(1)
})

function sendSlowly(socket: net.Socket, first: string, again: string): void {
  socket.write(first)
  const timer = setInterval(() => socket.write(again), 5)
  socket.on('close', () => clearInterval(timer))
}

test('nobody listens', async () => {
  const { url } = await startReceiver(() => undefined)
  await new Promise((resolve) => openServers.splice(0)[0]?.close(resolve))
  expect(await postAndReadRefusal(url)).toContain('ECONNREFUSED')
})

test.each([
  ['missing', undefined, 'cannot be read'],
  ['empty', '\n', 'is empty'],
])('nothing is sent with a secret that is %s', async (name, content, why) => {
  const { url, got } = await startReceiver((response) => response.writeHead(204).end())
  const file = path.join(dir, name)
  if (content !== undefined) writeFileSync(file, content, { mode: 0o600 })
  const said = await postAndReadRefusal(url, undefined, file)
  expect(said).toContain(why)
  expect(said).not.toContain(dir)
  expect(got).toEqual([])
})
