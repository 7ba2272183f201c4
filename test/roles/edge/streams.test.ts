// Streams through the edge: bodies and events in both directions as they arrive, WebSocket, and processes that fail and recover.
import { afterEach, expect, test } from 'vitest'
import { sendExactRequest } from '../../support/http/send-exact-request.ts'
import { type RawUpstream, startRawUpstream } from '../../support/proxy/raw-upstream.ts'
import { type RecordingUpstream, respondOk, startRecordingUpstream } from '../../support/proxy/recording-upstream.ts'
import { createRawClient } from '../../support/proxy/test-data-listener.ts'
import { pollOptions } from '../../support/proxy/upstream-fixture.ts'
import { type EdgeSite, startEdgeSite } from './edge-site.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

async function openEdge(ports: readonly number[], more: Readonly<Record<string, unknown>> = {}): Promise<EdgeSite> {
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const edge = await startEdgeSite({ backends: { 'consensus-service': urls }, edge: more })
  open.push({ close: () => edge.site.end() })
  return edge
}

async function openUpstream(answer: Parameters<typeof startRawUpstream>[0]): Promise<RawUpstream> {
  const server = await startRawUpstream(answer, { allowHalfOpen: true })
  open.push(server)
  return server
}

const path = '/api/v2/consensus/session'

test('a body and its answer pass piece by piece, each before the other side is done', async () => {
  const server = await openUpstream(({ socket, text }) => {
    if (text.endsWith('first\r\n'))
      socket.write(
        'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nearly\r\n',
      )
    if (text.endsWith('0\r\n\r\n')) socket.write('4\r\nlate\r\n0\r\n\r\n')
  })
  const { port } = await openEdge([server.port])
  const client = await createRawClient(port)
  client.send(`POST ${path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n`)
  await client.waitFor('early')
  expect(server.connections[0]?.text).not.toContain('0\r\n\r\n')
  client.send('6\r\nsecond\r\n0\r\n\r\n')
  await client.waitFor('late')
  expect(server.connections[0]?.text).toMatch(/5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n$/)
  client.socket.destroy()
})

test('a WebSocket carries bytes both ways until each side has ended', async () => {
  const server = await openUpstream(({ socket, text }) => {
    if (text.endsWith('\r\n\r\n'))
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nhello')
    if (text.endsWith('ping')) socket.end('pong')
  })
  const { port } = await openEdge([server.port])
  const client = await createRawClient(port)
  const key = 'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
  client.send(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${key}\r\n`)
  await client.waitFor(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nhello/)
  client.send('ping')
  await client.waitFor('pong')
  await client.waitForClose()
  expect(server.connections[0]?.text).toMatch(/\r\nx-forwarded-for: 127\.0\.0\.1\r\n[\s\S]*ping$/)
})

test('a process that fails gets no more requests while another serves, and returns when its probe succeeds', async () => {
  const [sound, failing] = [await startRecordingUpstream(respondOk), await startRecordingUpstream(respondOk)]
  open.push(sound, failing)
  failing.respond = (_, socket) => void socket.destroy()
  const edge = await openEdge([sound.port, failing.port], { probe_interval_s: 1 })
  const send = () => sendExactRequest({ port: edge.port, method: 'POST', path, body: {} })
  const statuses: number[] = []
  while (statuses.slice(-8).join() !== Array(8).fill(200).join()) statuses.push((await send()).status)
  expect(statuses.filter((status) => status !== 200).length).toBeLessThanOrEqual(3)
  const token = await edge.site.token({ roles: ['auditor'] })
  const readHealth = async () =>
    (await sendExactRequest({ port: edge.port, method: 'GET', path: '/health', token })).json
  const expectState = (state: string, detail: RegExp) => {
    const dependencies = expect.arrayContaining([
      expect.objectContaining({ name: 'consensus-service', state, detail: expect.stringMatching(detail) }),
    ])
    return expect.poll(readHealth, pollOptions).toMatchObject({ dependencies })
  }
  await expectState('degraded', new RegExp(`:${failing.port} (ejected|down)`))
  failing.respond = respondOk
  await expectState('ok', new RegExp(`:${failing.port} up`))
  await expect.poll(async () => [await send(), listPosts(failing)][1], pollOptions).toContain(path)
})

const listPosts = ({ requests }: RecordingUpstream) =>
  requests.filter(({ method }) => method === 'POST').map(({ target }) => target)
