// Posts to real receivers: the signature can be verified, and every failure is retryable.

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
  const received: ReceivedWebhook[] = []
  const url = await listenLocally(
    http.createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      received.push({
        method: request.method ?? '',
        headers: request.headers,
        text: Buffer.concat(parts).toString('utf8'),
      })
      answer(response)
    }),
  )
  return { url, received }
}

/** The error message of a failed post, which must be a retryable refusal without secrets. */
async function postAndReadRefusal(url: string, limit_ms?: number, file = secret_file): Promise<string> {
  const error: unknown = await postWebhook({ url, secret_file: file }, { n: 1 }, callContext, now_ms, limit_ms).catch(
    (thrown: unknown) => thrown,
  )
  if (!isRefusal(error)) throw new Error(`not a refusal: ${String(error)}`)
  expect([error.code, error.row.retryable]).toEqual(['unavailable', true])
  expect(JSON.stringify([error.message, error.errors, error.stack])).not.toMatch(/nobody-may-see|in-the-url/)
  return error.message
}

test('the receiver can verify the message, including bytes beyond ASCII', async () => {
  const { url, received } = await startReceiver((response) => response.writeHead(204).end())
  const body = { id: 'e1', name: 'Žofie „1“', nested: { list: [1, null] } }
  await postWebhook({ url, secret_file }, body, callContext, now_ms)
  const [{ method, headers, text }] = received as [ReceivedWebhook]
  expect([method, headers['content-type'], JSON.parse(text)]).toEqual(['POST', 'application/json', body])
  const at = Math.floor(now_ms / 1_000)
  const seal = createHmac('sha256', secret).update(`${at}.${text}`).digest('hex')
  expect(headers['x-platform-signature']).toBe(`t=${at},v1=${seal}`)
  expect(JSON.stringify(received)).not.toContain(secret)
})

test('the request carries the trace of the message, and tracestate only if it is not empty', async () => {
  const { url, received } = await startReceiver((response) => response.writeHead(204).end())
  await postWebhook({ url, secret_file }, {}, callContext, now_ms)
  await postWebhook({ url, secret_file }, {}, { ...callContext, trace: { ...sampleTrace, tracestate: '' } }, now_ms)
  const [first, second] = received as [ReceivedWebhook, ReceivedWebhook]
  const traceparent = `00-${sampleTrace.trace_id}-${sampleTrace.span_id}-01`
  expect(first.headers).toMatchObject({ traceparent, tracestate: sampleTrace.tracestate })
  expect(second.headers).toMatchObject({ traceparent })
  expect(second.headers).not.toHaveProperty('tracestate')
})

test.each([200, 201, 202, 204])('%i is a success', async (status) => {
  const { url, received } = await startReceiver((response) => response.writeHead(status).end())
  await postWebhook({ url, secret_file }, {}, callContext, now_ms)
  expect(received).toHaveLength(1)
})

test.each([301, 302, 303, 304, 307, 308])('%i is not followed, and is a failure', async (status) => {
  const elsewhere = await startReceiver((response) => response.writeHead(204).end())
  const { url } = await startReceiver((response) => response.writeHead(status, { location: elsewhere.url }).end())
  expect(await postAndReadRefusal(url)).toBe(`the webhook answered ${status}`)
  expect(elsewhere.received).toEqual([])
})

test.each([400, 401, 404, 410, 429, 500, 503])('%i is retryable', async (status) => {
  const { url } = await startReceiver((response) => response.writeHead(status).end('the body is not repeated'))
  expect(await postAndReadRefusal(url)).toBe(`the webhook answered ${status}`)
})

describe('a receiver that misbehaves', () => {
  const raw = (respond: (socket: net.Socket) => void) =>
    listenLocally(net.createServer((socket) => socket.once('data', () => respond(socket))))

  test.each<[string, (socket: net.Socket) => void]>([
    ['says nothing', () => undefined],
    ['drips headers', (socket) => sendSlowly(socket, 'HTTP/1.1 200 OK\r\n', 'x: y\r\n')],
    ['repeats interim responses', (socket) => sendSlowly(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n')],
  ])('%s: the sender gives up', async (_, respond) => {
    expect(await postAndReadRefusal(await raw(respond), 100)).toContain('did not answer within 100 ms')
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['hangs up', (socket) => socket.end()],
    ['cuts the connection', (socket) => socket.resetAndDestroy()],
    ['speaks something else', (socket) => socket.end('220 mail.example ESMTP\r\n')],
    [
      'changes the protocol',
      (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    ],
  ])('%s: the sender fails at once', async (_, respond) => {
    expect(await postAndReadRefusal(await raw(respond))).toContain('the webhook cannot be reached')
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['never ends its body', (socket) => sendSlowly(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n', 'x')],
    ['breaks off its body', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\nx')],
  ])('%s: the response head has already accepted the message', async (_, respond) => {
    await postWebhook({ url: await raw(respond), secret_file }, {}, callContext, now_ms, 100)
  })
})

test('when its call is aborted the sender gives up at once, and the failure is retryable', async () => {
  const ending = new AbortController()
  let request_count = 0
  const { url } = await startReceiver(() => {
    request_count += 1
    ending.abort()
  })
  const post = () =>
    postWebhook({ url, secret_file }, {}, { ...callContext, signal: ending.signal }, now_ms, 60_000).catch(
      (error: unknown) => error,
    )
  for (const error of [await post(), await post()]) {
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('stopping') })
  }
  expect(request_count).toBe(1)
})

function sendSlowly(socket: net.Socket, first: string, again: string): void {
  socket.write(first)
  const timer = setInterval(() => socket.write(again), 5)
  socket.on('close', () => clearInterval(timer))
}

test('a post to a closed port fails', async () => {
  const { url } = await startReceiver(() => undefined)
  await new Promise((resolve) => openServers.splice(0)[0]?.close(resolve))
  expect(await postAndReadRefusal(url)).toContain('ECONNREFUSED')
})

test.each([
  ['missing', undefined, 'cannot be read'],
  ['empty', '\n', 'is empty'],
])('nothing is sent with a secret that is %s', async (name, content, why) => {
  const { url, received } = await startReceiver((response) => response.writeHead(204).end())
  const file = path.join(dir, name)
  if (content !== undefined) writeFileSync(file, content, { mode: 0o600 })
  const message = await postAndReadRefusal(url, undefined, file)
  expect(message).toContain(why)
  expect(message).not.toContain(dir)
  expect(received).toEqual([])
})
