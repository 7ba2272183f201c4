// Readers that stop: the memory of their answers is bounded, for each and for all, and given back when they are cut off.
import { once } from 'node:events'
import net from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminHeaders, type EchoServer, jsonHeaders, startEchoServer } from '../support/echo/echo-server.ts'
import { formatRawRequest, sendRawHttp } from '../support/http/send-raw-http.ts'

/** More than the kernel buffers for a connection of loopback. */
const large_bytes = 24_000_000
const large = `GET /large?bytes=${large_bytes}`
const headersOf = (subject: string) => ({ authorization: `Bearer ${subject}.admin` })

let sockets: net.Socket[]
beforeEach(() => {
  sockets = []
})
afterEach(() => {
  for (const socket of sockets) socket.destroy()
})

/** Sends a request and reads nothing: the socket stays paused after its first bytes. */
async function stopReading({ server }: EchoServer, line: string, headers: Record<string, string>, body = '') {
  const socket = net.connect(server.port, '127.0.0.1')
  sockets.push(socket)
  const reader = { socket, status: 0, isClosed: false }
  socket
    .on('error', () => undefined)
    .on('close', () => {
      reader.isClosed = true
    })
  await once(socket, 'connect')
  socket.write(formatRawRequest(line, headers, body))
  await once(socket, 'readable')
  reader.status = Number(String(socket.read(12)).split(' ')[1])
  return reader
}

test('of many readers that stop, only as many answers are held as the process has memory for', async () => {
  const world = await startEchoServer({
    limits: { unread_bytes: 2.5 * large_bytes, unread_bytes_per_caller: Infinity },
  })
  const statuses = []
  for (let count = 0; count < 12; count++) {
    statuses.push((await stopReading(world, large, headersOf(`u${count}`))).status)
  }
  expect(statuses).toEqual([200, 200, ...Array.from({ length: 10 }, () => 503)])
  expect((await world.request('GET /large?bytes=10', headersOf('u99'))).status).toBe(200)
})

test('one reader that stops takes its own share, and what it requests then is refused before it is performed', async () => {
  const world = await startEchoServer({ limits: { unread_bytes_per_caller: large_bytes } })
  const first = await stopReading(world, large, adminHeaders)
  expect(first.status).toBe(200)
  const refused = await world.request('POST /any', { ...adminHeaders, ...jsonHeaders }, '{}')
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
  expect((await world.request(large, headersOf('carol'))).status).toBe(200)
  first.socket.destroy()
  await expect.poll(async () => (await world.request('GET /large?bytes=10', adminHeaders)).status).toBe(200)
})

test('the answer of a change is not replaced by a refusal', async () => {
  const world = await startEchoServer({ limits: { unread_bytes: large_bytes + 500_000 } })
  expect((await stopReading(world, large, headersOf('carol'))).status).toBe(200)
  const body = JSON.stringify({ bytes: 1_000_000 })
  const headers = { ...adminHeaders, ...jsonHeaders }
  expect((await world.request('GET /large?bytes=1000000', adminHeaders)).status).toBe(503)
  expect((await world.request('POST /change', headers, body)).body.length).toBe(1_000_011)
})

test('a reader that stops is cut off, and its memory is free again', async () => {
  const limits = { answer_pace: { grace_ms: 100, bytes_per_s: 1e12 }, request_ms: 200, unread_bytes: large_bytes }
  const world = await startEchoServer({ limits })
  const reader = await stopReading(world, large, adminHeaders)
  await expect.poll(() => world.metrics.text()).toContain('{operation="test.echo.large",status="aborted"} 1')
  reader.socket.resume()
  await expect.poll(() => reader.isClosed).toBe(true)
  const lines = world.echo.controls.logged.filter(([, event]) => event === 'http.reader.slow')
  expect(lines).toMatchObject([['warn', 'http.reader.slow', { operation: 'test.echo.large', times: 1 }]])
  expect((await world.request('GET /large?bytes=100000', adminHeaders)).status).toBe(200)
})

test.each(['x', 'é', '😀'])('a large answer of %s arrives whole, and HEAD announces its length', async (letter) => {
  const world = await startEchoServer()
  const line = `/large?bytes=300000&letter=${encodeURIComponent(letter)}`
  const answer = await world.request(`GET ${line}`, adminHeaders)
  expect(JSON.parse(answer.body)).toEqual({ text: letter.repeat(300_000) })
  expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.body)))
  const head = await world.request(`HEAD ${line}`, adminHeaders)
  expect([head.status, head.headers['content-length'], head.body]).toEqual([200, answer.headers['content-length'], ''])
})

test('a connection serves its next request after a large answer', async () => {
  const { server } = await startEchoServer()
  const first = formatRawRequest('GET /large?bytes=300000', { ...adminHeaders, connection: 'keep-alive' })
  const { text } = await sendRawHttp({ port: server.port }, first + formatRawRequest('GET /open'))
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
})
