// Scenarios of HTTP/2 for the comparison with nginx: requests and responses in translation, and heads that are not valid.
import { expect } from 'vitest'
import type { ForwardCall, ForwardClient } from '../../support/forward/forward-client.ts'
import {
  type FieldList,
  type FrameClient,
  hpackFields,
  requestFrame,
  types,
} from '../../support/forward/http2-frames.ts'
import type { RawConnection } from '../../support/proxy/raw-upstream.ts'
import { type ScenarioDifference, type ScenarioOutcome, waitFor, waitForRest } from './forward-scenario.ts'

export type Http2Stage = {
  readonly client: ForwardClient
  /** A client that sends frames of its own. */
  frames(): Promise<FrameClient>
  /** The connection of the scenario at the upstream, with its request. */
  upstream(): Promise<RawConnection>
  /** Request lines that the upstream has received in this scenario. */
  lines(): readonly string[]
}

export type Http2Scenario = {
  readonly name: string
  readonly answer?: (connection: RawConnection) => void
  readonly play: (stage: Http2Stage) => Promise<ScenarioOutcome>
  readonly difference?: ScenarioDifference
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const stream = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const answerAt = (mark: string, text: string) => (connection: RawConnection) => {
  if (connection.text.endsWith(mark)) connection.socket.write(text, 'latin1')
}
const waitForEnd = ({ answer }: ForwardCall) => waitFor(() => expect(answer.isEnded || answer.isBroken).toBe(true))
const waitForBytes = ({ answer }: ForwardCall, text: string) => waitFor(() => expect(answer.text).toBe(text))

/** The request lines at the upstream, of a head that is sent as it is. */
const forwards =
  (fields: FieldList): Http2Scenario['play'] =>
  async ({ frames, lines }) => {
    const client = await frames()
    client.send(requestFrame(1, hpackFields(fields)))
    const isOver = ({ type, stream }: FrameClient['frames'][number]) =>
      type === types.goaway || (stream === 1 && (type === types.headers || type === types.reset))
    await waitFor(() => expect(client.isClosed || client.frames.some(isOver)).toBe(true))
    return { lines: lines().join() }
  }

const head = (changes: Readonly<Record<string, string>>, more: FieldList = []): FieldList => [
  ...Object.entries({ ':method': 'GET', ':scheme': 'https', ':authority': 'a', ':path': '/a', ...changes }),
  ...more,
]

const isForwarded = (line: string): ScenarioDifference => ({
  reason:
    'nginx forwards the head, without the field; here HTTP/2 lets nothing through that HTTP/1.1 refuses, and no fragment',
  values: { lines: ['', line] },
})

const invalidHeads: readonly (readonly [name: string, fields: FieldList, difference?: ScenarioDifference])[] = [
  ['a method in lower case', head({ ':method': 'get' })],
  ['TRACE in lower case', head({ ':method': 'trace' })],
  ['an asterisk', head({ ':method': 'OPTIONS', ':path': '*' })],
  ['an absolute target', head({ ':path': 'http://b/a' })],
  ['a byte above ASCII', head({ ':path': '/\xff' }), isForwarded('GET /\xff HTTP/1.1')],
  ['a fragment', head({ ':path': '/a#b' }), isForwarded('GET /a#b HTTP/1.1')],
  ['another scheme', head({ ':scheme': 'ftp' }), isForwarded('GET /a HTTP/1.1')],
  ['another scheme and target', head({ ':scheme': 'ftp', ':path': 'http://b/a' })],
  ['another host', head({}, [['host', 'b']])],
  ['a coding', head({}, [['transfer-encoding', 'chunked']]), isForwarded('GET /a HTTP/1.1')],
  ['a field of the connection', head({}, [['connection', 'x']]), isForwarded('GET /a HTTP/1.1')],
  ['a second path', head({}, [[':path', '/b']])],
  ['no authority', head({ ':authority': '' })],
]

export const http2Scenarios: readonly Http2Scenario[] = [
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
    name: `${method} with a body`,
    answer: answerAt('abc', ok),
    async play({ client, lines, upstream }: Http2Stage) {
      const call = client.open(method, '/a%2Fb?c=d', { 'content-length': '3' })
      call.write('abc')
      call.end()
      await waitForEnd(call)
      const isFramed = /^content-length: 3\r$/im.test((await upstream()).text)
      return { status: call.answer.status, body: call.answer.text, lines: lines().join(), isFramed }
    },
  })),
  {
    name: 'a streamed response',
    answer: answerAt('\r\n\r\n', `${stream}3\r\none\r\n`),
    async play({ client, upstream }) {
      const call = client.open('GET', '/a')
      const { socket } = await upstream()
      await waitForBytes(call, 'one')
      socket.write('3\r\ntwo\r\n0\r\n\r\n')
      await waitForEnd(call)
      return { text: call.answer.text, isBroken: call.answer.isBroken }
    },
  },
  {
    name: 'a streamed body',
    answer: answerAt('0\r\n\r\n', ok),
    async play({ client, upstream }) {
      const call = client.open('POST', '/a')
      call.write('one')
      const connection = await upstream()
      await waitFor(() => expect(connection.text).toContain('3\r\none\r\n'))
      call.end()
      await waitForEnd(call)
      return { status: call.answer.status, body: connection.text.slice(connection.text.indexOf('\r\n\r\n') + 4) }
    },
  },
  {
    name: 'an early response',
    answer: answerAt('one\r\n', 'HTTP/1.1 413 X\r\nContent-Length: 3\r\n\r\nbig'),
    async play({ client, upstream }) {
      const call = client.open('POST', '/a')
      call.write('one')
      await waitForBytes(call, 'big')
      const connection = await upstream()
      await waitFor(() => expect(connection.isClosed).toBe(true))
      return { status: call.answer.status, isComplete: connection.text.endsWith('0\r\n\r\n') }
    },
  },
  {
    name: 'a client that leaves within its body',
    async play({ client, upstream }) {
      const call = client.open('POST', '/a')
      call.write('one')
      const connection = await upstream()
      await waitFor(() => expect(connection.text).toContain('one'))
      call.abort()
      await waitFor(() => expect(connection.isClosed).toBe(true))
      return { isComplete: connection.text.endsWith('0\r\n\r\n') }
    },
  },
  {
    name: 'a response that breaks off',
    answer({ socket }) {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart')
    },
    async play({ client }) {
      const call = client.open('GET', '/a')
      await waitFor(() => expect(call.answer.isBroken).toBe(true))
      return { status: call.answer.status, isEnded: call.answer.isEnded }
    },
  },
  {
    name: 'fields of one connection and trailers of a response',
    answer: answerAt(
      '\r\n\r\n',
      `HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n`,
    ),
    async play({ client }) {
      const call = client.open('GET', '/a')
      await waitForEnd(call)
      const names = Object.keys(call.answer.headers)
      return { text: call.answer.text, isKept: names.includes('keep-alive'), isSummed: names.includes('x-sum') }
    },
  },
  ...([204, 304] as const).map((status) => ({
    name: `a response ${status}`,
    answer: answerAt('\r\n\r\n', `HTTP/1.1 ${status} X\r\n\r\n`),
    async play({ client }: Http2Stage) {
      const call = client.open('GET', '/a')
      await waitForEnd(call)
      return { status: call.answer.status, text: call.answer.text, isBroken: call.answer.isBroken }
    },
  })),
  {
    name: 'a response to HEAD',
    answer: answerAt('\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n'),
    async play({ client }) {
      const call = client.open('HEAD', '/a')
      await waitForEnd(call)
      return { status: call.answer.status, length: String(call.answer.headers['content-length']) }
    },
  },
  {
    name: 'a client that reads slowly',
    answer: answerAt('\r\n\r\n', `HTTP/1.1 200 OK\r\nContent-Length: ${64 << 20}\r\n\r\n`),
    async play({ client, upstream }) {
      const call = client.open('GET', '/a')
      call.pause()
      const { socket } = await upstream()
      for (let at = 0; at < 64; at++) socket.write(Buffer.alloc(1 << 20, 'x'))
      await waitForRest(() => socket.writableLength)
      const waits = socket.writableLength > 32 << 20
      call.resume()
      await waitForEnd(call)
      return { waits, length: call.answer.text.length }
    },
  },
  ...invalidHeads.map(([name, fields, difference]) => ({
    name: `a head with ${name}`,
    answer: answerAt('\r\n\r\n', ok),
    play: forwards(fields),
    ...(difference ? { difference } : {}),
  })),
]
