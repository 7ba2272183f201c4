// Switched protocols and broken bodies of HTTP/1.1, byte by byte, through a listener and an upstream.
import { afterEach, describe, expect, test, vi } from 'vitest'
import { manualCoarseClock } from '../../../test/support/clock/manual-coarse-clock.ts'
import { type ForwarderOptions, startForwarder } from '../../../test/support/forward/test-forwarder.ts'
import { type RawConnection, startRawUpstream } from '../../../test/support/proxy/raw-upstream.ts'
import { createRawClient } from '../../../test/support/proxy/test-data-listener.ts'
import { pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'

const openResources: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of openResources.splice(0)) await one.close()
})

async function startPair(
  answer: (connection: RawConnection) => void,
  { allowHalfOpen = false, ...more }: Partial<ForwarderOptions> & { allowHalfOpen?: boolean } = {},
) {
  const server = await startRawUpstream(answer, { allowHalfOpen })
  const clock = manualCoarseClock()
  const forwarder = await startForwarder({ port: server.port, clock, ...more })
  openResources.push(server, forwarder)
  const client = async (bytes: string, how = { staysOpen: false }) => {
    const opened = await createRawClient(forwarder.port, how)
    openResources.unshift({ close: () => opened.socket.destroy() })
    opened.send(bytes)
    return opened
  }
  const received = (text: string | RegExp) =>
    vi.waitFor(() => expect(server.connections.map((each) => each.text).join('')).toMatch(text), pollOptions)
  return { server, clock, forwarder, client, received }
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const switching =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n'
const handshake =
  'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
const offering = { listener: { offersWebSocket: true } } as const

/** Switches protocols, and then repeats what it receives. */
function echo(connection: RawConnection) {
  const { socket, text } = connection
  const seen = echoed.get(connection) ?? text.indexOf('\r\n\r\n') + 4
  if (!echoed.has(connection)) socket.write(switching)
  echoed.set(connection, text.length)
  if (text.length > seen) socket.write(`<${text.slice(seen)}>`, 'latin1')
}
const echoed = new WeakMap<RawConnection, number>()

describe('a switch of protocols', () => {
  test('carries bytes in both directions, also those sent with the head', async () => {
    const { client, server, forwarder } = await startPair(echo, offering)
    const sender = await client(handshake)
    await sender.waitFor(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/)
    expect(sender.text.toLowerCase()).toContain('upgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n')
    expect(server.connections[0]?.text).toBe(
      'GET /ws HTTP/1.1\r\nhost: upstream\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n',
    )
    sender.send('\0\xff')
    await sender.waitFor(/<\0\xff>$/)
    expect(forwarder.ends).toEqual([])
    const early = await client(`${handshake}early`)
    await early.waitFor(/101 [\s\S]*<early>$/)
  })

  test('that is held carries nothing before its release, and then what both sides have sent', async () => {
    const { client, server, forwarder, received } = await startPair(
      (connection) => connection.text.endsWith('\r\n\r\n') && connection.socket.write(`${switching}hello`),
      { ...offering, holds: 'responses' },
    )
    const sender = await client(`${handshake}early`)
    await vi.waitFor(() => expect(forwarder.held()).toBe(1), pollOptions)
    expect([sender.text, server.connections[0]?.text.endsWith('\r\n\r\n')]).toEqual(['', true])
    forwarder.release()
    await sender.waitFor(/101 [\s\S]*hello$/)
    await received(/early$/)
  })

  test.each(['the client', 'the upstream'])(
    'goes on in the other direction when %s has ended its side',
    async (first) => {
      const { client, server, forwarder } = await startPair(echo, { ...offering, allowHalfOpen: true })
      const sender = await client(handshake, { staysOpen: true })
      await sender.waitFor(/\r\n\r\n$/)
      const [connection] = server.connections
      if (first === 'the client') {
        sender.socket.end('bye')
        await sender.waitFor(/<bye>$/)
        connection?.socket.end('last')
        await sender.waitFor(/last$/)
      } else {
        connection?.socket.end('bye')
        await sender.waitFor(/bye$/)
        sender.socket.end('last')
        await vi.waitFor(() => expect(connection?.text).toMatch(/last$/), pollOptions)
      }
      await vi.waitFor(() => expect(forwarder.ends).toEqual([undefined]), pollOptions)
      await vi.waitFor(() => expect(forwarder.upstream.counts().connections).toBe(0), pollOptions)
      await sender.waitForClose()
    },
  )

  test('that is lost on one side is lost on the other', async () => {
    const { client, server, forwarder } = await startPair(echo, offering)
    const leaving = await client(handshake)
    await leaving.waitFor(/\r\n\r\n$/)
    leaving.socket.resetAndDestroy()
    await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
    const cut = await client(handshake)
    await cut.waitFor(/\r\n\r\n$/)
    server.connections[1]?.socket.resetAndDestroy()
    await cut.waitForClose()
    expect(forwarder.ends).toEqual(['gone', 'closed'])
  })

  test('ends at the idle limit, at the total limit and by the role', async () => {
    const { client, clock, forwarder } = await startPair(echo, {
      ...offering,
      limits: { idle_ms: 1_000, total_ms: 2_500 },
    })
    const idle = await client(handshake)
    await idle.waitFor(/\r\n\r\n$/)
    clock.advance(1_001)
    await idle.waitForClose()
    const total = await client(handshake)
    await total.waitFor(/\r\n\r\n$/)
    for (let at = 1; at <= 2; at++) {
      clock.advance(900)
      total.send(`${at}`)
      await total.waitFor(`<${at}>`)
    }
    clock.advance(900)
    await total.waitForClose()
    const expired = await client(handshake)
    await expired.waitFor(/\r\n\r\n$/)
    forwarder.cutLast()
    await expired.waitForClose()
    expect(forwarder.ends).toEqual(['timeout', 'timeout', 'gone'])
  })

  test('that the upstream declines is an ordinary response', async () => {
    const { client, forwarder } = await startPair(({ socket }) => void socket.write(ok), offering)
    const sender = await client(handshake)
    await sender.waitForClose()
    expect(sender.text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*ok$/)
    expect(forwarder.ends).toEqual([undefined])
  })

  test.each([
    ['to another protocol', switching.replace('Upgrade: websocket', 'Upgrade: h2c')],
    ['without naming a protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('by the upstream %s is a fault', async (_, answer) => {
    const { client, forwarder } = await startPair(({ socket }) => void socket.write(answer), offering)
    const sender = await client(handshake)
    await sender.waitFor(/^HTTP\/1\.1 502 /)
    expect(forwarder.ends).toEqual(['protocol'])
  })

  test.each([
    ['h2c', handshake.replace('Upgrade: websocket', 'Upgrade: h2c')],
    ['two protocols', handshake.replace('Upgrade: websocket', 'Upgrade: websocket, h2c')],
    ['no key', handshake.replace(/Sec-WebSocket-Key.*\r\n/, '')],
    ['another version', handshake.replace('Version: 13', 'Version: 8')],
    ['HTTP/1.0', handshake.replace('HTTP/1.1', 'HTTP/1.0')],
    ['POST', handshake.replace('GET', 'POST')],
  ])('is not offered for %s: the request is ordinary, and the last of its connection', async (_, request) => {
    const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
    const { client, server } = await startPair(({ socket }) => void socket.write(ok), offering)
    const sender = await client(request + smuggled)
    await sender.waitForClose()
    expect(sender.text).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(server.lines()).toHaveLength(1)
    expect(server.connections[0]?.text).not.toMatch(/upgrade|connection/i)
  })

  test('with a body is refused', async () => {
    const { client, server } = await startPair(echo, offering)
    const sender = await client(`${handshake.replace('Host: a', 'Host: a\r\nContent-Length: 5')}GET /`)
    await sender.waitFor(/^HTTP\/1\.1 400 /)
    expect(server.connections).toEqual([])
  })
})

test('a client that waits for `100 Continue` gets it when the upstream is connected', async () => {
  const { client, received } = await startPair(({ socket, text }) => {
    if (text.endsWith('body')) socket.write(ok)
  })
  const sender = await client('POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n')
  await sender.waitFor(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
  await received(/^POST \/a HTTP\/1\.1\r\nhost: upstream\r\ncontent-length: 4\r\n\r\n$/)
  sender.send('body')
  await sender.waitFor(/ok$/)
})

test('a body that breaks its framing is refused, and ends at the upstream unfinished', async () => {
  const { client, server, received } = await startPair(() => undefined)
  const sender = await client('POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')
  await received(/abc\r\n$/)
  sender.send('zz\r\n')
  await sender.waitFor(/^HTTP\/1\.1 400 /)
  await vi.waitFor(() => expect(server.connections[0]?.isClosed).toBe(true), pollOptions)
  expect(server.connections[0]?.text).toMatch(/abc\r\n$/)
})
