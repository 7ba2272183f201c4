// Scenarios of forwarding for the comparison with nginx: the bytes of a client and an upstream, and the outcome for both.
import { expect } from 'vitest'
import type { RawConnection } from '../../support/proxy/raw-upstream.ts'
import type { RawClient } from '../../support/proxy/test-data-listener.ts'
import { type ForwardScenario, type ForwardStage, waitFor, waitForRest } from './forward-scenario.ts'

const head = (method: string, more = '') => `${method} /a HTTP/1.1\r\nHost: a\r\n${more}\r\n`
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const stream = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const statusOf = ({ text }: RawClient) => Number(/HTTP\/1\.1 (?!100)(\d{3})/.exec(text)?.[1] ?? 0)
const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)
const chunked = 'Transfer-Encoding: chunked\r\n'
const handshake = head(
  'GET',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n',
)
const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'

/** Answers once, when the text of the connection ends with the mark. */
const answerAt = (mark: string, text: string) => (connection: RawConnection) => {
  if (connection.text.endsWith(mark)) connection.socket.write(text, 'latin1')
}
const refused: ForwardScenario['play'] = async ({ client, connections }) => {
  const sender = await client(`${head('POST', `${chunked}Content-Length: 3\r\n`)}0\r\n\r\n`)
  await sender.waitForClose()
  return { status: statusOf(sender), connections: connections().length }
}

export const forwardScenarios: readonly ForwardScenario[] = [
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].map((method) => ({
    name: `${method} with a body`,
    answer: answerAt('abc', ok),
    async play({ client, upstream }: ForwardStage) {
      const sender = await client(`${head(method, 'Content-Length: 3\r\n')}abc`)
      await sender.waitFor(/ok$/)
      const { text } = await upstream()
      return { status: statusOf(sender), line: text.split('\r\n')[0] ?? '', body: bodyOf(text) }
    },
  })),
  {
    name: 'a streamed response',
    answer: answerAt('\r\n\r\n', stream),
    async play({ client, upstream }) {
      const sender = await client(head('GET'))
      const { socket } = await upstream()
      await sender.waitFor(/\r\n\r\n/)
      const seen: string[] = []
      for (const part of ['one', 'two']) {
        socket.write(`3\r\n${part}\r\n`)
        await sender.waitFor(part)
        seen.push(part)
      }
      socket.write('0\r\n\r\n')
      await sender.waitFor(/0\r\n\r\n$/)
      return { status: statusOf(sender), seen: seen.join() }
    },
  },
  {
    name: 'a streamed body',
    answer: answerAt('0\r\n\r\n', ok),
    async play({ client, upstream }) {
      const sender = await client(`${head('POST', chunked)}3\r\none\r\n`)
      const connection = await upstream()
      await waitFor(() => expect(connection.text).toContain('one'))
      sender.send('3\r\ntwo\r\n0\r\n\r\n')
      await sender.waitFor(/ok$/)
      return { status: statusOf(sender), body: bodyOf(connection.text) }
    },
  },
  {
    name: 'an early response, after which the upstream keeps the connection',
    answer: answerAt('one\r\n', 'HTTP/1.1 413 X\r\nContent-Length: 3\r\n\r\nbig'),
    async play({ client, upstream }) {
      const sender = await client(`${head('POST', chunked)}3\r\none\r\n`)
      await sender.waitFor(/big$/)
      const connection = await upstream()
      await waitFor(() => expect(connection.isClosed).toBe(true))
      return { status: statusOf(sender), isComplete: connection.text.endsWith('0\r\n\r\n') }
    },
  },
  {
    name: 'an early response, after which the upstream closes',
    answer({ socket, text }) {
      if (text.endsWith('one\r\n')) socket.end('HTTP/1.1 413 X\r\nConnection: close\r\n\r\nbig')
    },
    async play({ client }) {
      const sender = await client(`${head('POST', chunked)}3\r\none\r\n`)
      await sender.waitFor('big')
      return { status: statusOf(sender) }
    },
  },
  {
    name: 'a client that ends its side before the response',
    async play({ client, upstream }) {
      const sender = await client(head('GET'))
      const connection = await upstream()
      sender.socket.end()
      await waitFor(() => expect(connection.isClosed).toBe(true))
      return { status: statusOf(sender) }
    },
  },
  {
    name: 'an upstream that ends its side after a response without a length',
    answer({ socket }) {
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall')
    },
    async play({ client }) {
      const sender = await client(head('GET'))
      await sender.waitFor(/all[\s\S]*0\r\n\r\n$/)
      return { status: statusOf(sender) }
    },
  },
  {
    name: 'a response that breaks off',
    answer({ socket }) {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart')
    },
    async play({ client }) {
      const sender = await client(head('GET'))
      await sender.waitForClose()
      return { status: statusOf(sender), body: bodyOf(sender.text) }
    },
  },
  {
    name: 'an upgrade in both directions',
    answer({ socket, text }) {
      if (text.endsWith('\r\n\r\n')) socket.write(switching)
      else if (text.endsWith('ping')) socket.write('pong')
    },
    async play({ client }) {
      const sender = await client(handshake)
      await sender.waitFor(/101 [\s\S]*\r\n\r\n$/)
      sender.send('ping')
      await sender.waitFor(/pong$/)
      return { status: statusOf(sender) }
    },
  },
  {
    name: 'an upgrade that the upstream declines',
    answer: answerAt('\r\n\r\n', 'HTTP/1.1 403 X\r\nContent-Length: 2\r\n\r\nno'),
    async play({ client }) {
      const sender = await client(handshake)
      await sender.waitFor(/no$/)
      return { status: statusOf(sender) }
    },
  },
  {
    name: 'a switched protocol whose client ends its side',
    isHalfOpen: true,
    answer({ socket, text }) {
      if (text.endsWith('\r\n\r\n')) socket.write(switching)
    },
    async play({ client, upstream }) {
      const sender = await client(handshake)
      await sender.waitFor(/101 [\s\S]*\r\n\r\n$/)
      const connection = await upstream()
      sender.socket.end('bye')
      await waitFor(() => expect(connection.text.endsWith('bye') && connection.socket.readableEnded).toBe(true))
      connection.socket.end('last')
      await sender.waitForClose()
      return { seen: sender.text.endsWith('last') }
    },
    difference: {
      reason: 'nginx closes both directions when one ends; here each ends by itself',
      values: { seen: [true, false] },
    },
  },
  {
    name: 'a body of GET',
    answer: answerAt('abc', ok),
    async play({ client, connections }) {
      const sender = await client(`${head('GET', 'Content-Length: 3\r\n')}abc`)
      await waitFor(() => expect(statusOf(sender)).not.toBe(0))
      return { status: statusOf(sender), connections: connections().length }
    },
    difference: {
      reason: 'a server that skips the body of GET takes it for a request; nginx forwards it',
      values: { status: [400, 200], connections: [0, 1] },
    },
  },
  { name: 'two framings of one body', play: refused },
  {
    name: 'a body that is announced too large',
    async play({ client, connections }) {
      const sender = await client(head('POST', 'Content-Length: 9000000\r\n'))
      await waitFor(() => expect(statusOf(sender)).not.toBe(0))
      return { status: statusOf(sender), connections: connections().length }
    },
  },
  {
    name: 'an expectation of 100 Continue',
    answer: answerAt('abc', ok),
    async play({ client, upstream }) {
      const sender = await client(head('POST', 'Expect: 100-continue\r\nContent-Length: 3\r\n'))
      await sender.waitFor(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
      sender.send('abc')
      await sender.waitFor(/ok$/)
      return { status: statusOf(sender), isForwarded: /^expect:/im.test((await upstream()).text) }
    },
  },
  {
    name: 'trailers of a response',
    answer: answerAt('\r\n\r\n', `${stream}2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n`),
    async play({ client }) {
      const sender = await client(head('GET'))
      // A response that is whole in one read goes out with its length.
      await sender.waitFor(/content-length: 2\r\n[\s\S]*ok$|0\r\n[\s\S]*\r\n$/i)
      return { status: statusOf(sender), hasTrailers: sender.text.includes('X-Sum') }
    },
  },
  {
    name: 'a client that reads slowly',
    answer: answerAt('\r\n\r\n', `HTTP/1.1 200 OK\r\nContent-Length: ${64 << 20}\r\n\r\n`),
    async play({ client, upstream }) {
      const sender = await client(head('GET'))
      const { socket } = await upstream()
      sender.socket.pause()
      for (let at = 0; at < 64; at++) socket.write(Buffer.alloc(1 << 20, 'x'))
      await waitForRest(() => socket.writableLength)
      const waits = socket.writableLength > 32 << 20
      let size = 0
      sender.socket.removeAllListeners('data').on('data', (text: string) => {
        size += text.length
      })
      sender.socket.resume()
      await waitFor(() => expect(size).toBeGreaterThanOrEqual(64 << 20))
      return { waits }
    },
  },
]
