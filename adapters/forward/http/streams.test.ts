// Streams in both directions through a listener and an upstream: bodies as they arrive, early responses, and switched protocols.
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

async function startPair(answer: (connection: RawConnection) => void, more: Partial<ForwarderOptions> = {}) {
  const server = await startRawUpstream(answer)
  const clock = manualCoarseClock()
  const forwarder = await startForwarder({ port: server.port, clock, ...more })
  openResources.push(server, forwarder)
  const client = async (bytes: string) => {
    const opened = await createRawClient(forwarder.port)
    openResources.unshift({ close: () => opened.socket.destroy() })
    opened.send(bytes)
    return opened
  }
  const received = (text: string | RegExp) =>
    vi.waitFor(() => expect(server.connections.map((each) => each.text).join('')).toMatch(text), pollOptions)
  return { server, clock, forwarder, client, received }
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const head = (method: string, more: string) => `${method} /a HTTP/1.1\r\nHost: a\r\n${more}\r\n`
const answerAfter = (mark: string) => (connection: RawConnection) => {
  if (connection.text.endsWith(mark)) connection.socket.write(ok)
}

describe('a body', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'])(
    'of %s reaches the upstream as it arrives',
    async (method) => {
      const { client, received, forwarder } = await startPair(answerAfter('last'))
      const sender = await client(head(method, 'Content-Length: 9\r\n') + 'first')
      await received(new RegExp(`^${method} /a HTTP/1\\.1\r\nhost: upstream\r\ncontent-length: 9\r\n\r\nfirst$`))
      sender.send('last')
      await sender.waitFor(/ok$/)
      expect(sender.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(sender.text.toLowerCase()).toContain('connection: keep-alive')
      await vi.waitFor(() => expect(forwarder.ends).toEqual([undefined]), pollOptions)
    },
  )

  test('in chunks is sent in chunks, without the trailers', async () => {
    const { client, received } = await startPair(answerAfter('0\r\n\r\n'))
    const sender = await client(head('POST', 'Transfer-Encoding: chunked\r\nTrailer: x-sum\r\n') + '3\r\nabc\r\n')
    await received(/transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n$/)
    sender.send('2\r\nde\r\n0\r\nx-sum: 1\r\n\r\n')
    await received(/3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n$/)
    await sender.waitFor(/ok$/)
  })
})

test('an early response reaches the client while its body is still being sent', async () => {
  const { client, forwarder } = await startPair(({ socket, text }) => {
    if (text.includes('\r\n\r\n')) socket.end('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig')
  })
  const sender = await client(head('POST', 'Content-Length: 900000\r\n') + 'x'.repeat(10))
  await sender.waitFor(/^HTTP\/1\.1 413 [\s\S]*big$/)
  expect(forwarder.ends).toEqual([undefined])
  expect(sender.text.toLowerCase()).toContain('connection: close')
})
