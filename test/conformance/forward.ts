// Everything that forwarding must keep, as data: for each protocol of the listener, before one upstream and before a pool.
import { expect, vi } from 'vitest'
import type { ManualCoarseClock } from '../support/clock/manual-coarse-clock.ts'
import type { ForwardCall, ForwardClient } from '../support/forward/forward-client.ts'
import type { ForwarderOptions, TestForwarder } from '../support/forward/test-forwarder.ts'
import type { RawConnection, RawUpstream } from '../support/proxy/raw-upstream.ts'
import { pollOptions } from '../support/proxy/upstream-fixture.ts'

export type ForwardFixture = {
  readonly client: ForwardClient
  readonly forwarder: TestForwarder
  readonly server: RawUpstream
  readonly clock: ManualCoarseClock
}

export type ForwardRequirement = {
  readonly id: string
  readonly description: string
  /** Answers each read of the upstream. */
  readonly answer: (connection: RawConnection) => void
  readonly options: Partial<Omit<ForwarderOptions, 'port' | 'clock' | 'listener'>>
  readonly verify: (fixture: ForwardFixture) => Promise<void>
}

type RequirementParts = Partial<Pick<ForwardRequirement, 'answer' | 'options'>> & Pick<ForwardRequirement, 'verify'>

const requirement = (id: string, description: string, parts: RequirementParts): ForwardRequirement => ({
  id: `forward/${id}`,
  description,
  answer: () => undefined,
  options: {},
  ...parts,
})

const waitFor = (check: () => void) => vi.waitFor(check, pollOptions)
const received = ({ server }: ForwardFixture) => server.connections.map(({ text }) => text).join('')
const waitForRequest = (fixture: ForwardFixture, text: string | RegExp) =>
  waitFor(() => expect(received(fixture)).toMatch(text))
const waitForEnd = (call: ForwardCall) => waitFor(() => expect(call.answer.isEnded).toBe(true))
const waitForBreak = (call: ForwardCall) => waitFor(() => expect(call.answer.isBroken).toBe(true))
const waitForFailure = ({ forwarder }: ForwardFixture, failure: string | undefined) =>
  waitFor(() => expect(forwarder.ends).toEqual([failure]))
const waitForUpstreamClose = ({ server }: ForwardFixture) =>
  waitFor(() => expect(server.connections.map(({ isClosed }) => isClosed)).toEqual([true]))

/** Waits until a number stays the same over many turns of the event loop, so that what moves has come to rest. */
async function waitForRest(measure: () => number): Promise<void> {
  let last = Number.NaN
  for (let same = 0; same < 50; ) {
    await new Promise((resolve) => setImmediate(resolve))
    const next = measure()
    same = next === last ? same + 1 : 0
    last = next
  }
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const stream = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** Answers `text` once the upstream has received `mark` on the connection. */
function answerTo(mark: string, text: string): ForwardRequirement['answer'] {
  const answered = new WeakSet<RawConnection>()
  return (connection) => {
    if (answered.has(connection) || !connection.text.includes(mark)) return
    answered.add(connection)
    connection.socket.write(text, 'latin1')
  }
}

const firstSocket = ({ server }: ForwardFixture) => {
  const socket = server.connections[0]?.socket
  if (!socket) throw new Error('the upstream has no connection')
  return socket
}

const methodRequirements = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].map((method) =>
  requirement(`method/${method.toLowerCase()}`, `${method} is forwarded with its body and its path`, {
    answer: answerTo('body', ok),
    async verify(fixture) {
      const call = fixture.client.open(method, '/a%2Fb//c?d=%20', { 'content-length': '4' })
      call.write('body')
      call.end()
      await waitForEnd(call)
      expect(call.answer).toMatchObject({ status: 200, text: 'ok' })
      expect(received(fixture)).toMatch(new RegExp(`^${method} /a%2Fb//c\\?d=%20 HTTP/1\\.1\r\n`))
      expect(received(fixture)).toMatch(/\r\ncontent-length: 4\r\n\r\nbody$/)
      await waitForFailure(fixture, undefined)
    },
  }),
)

const bodyRequirements = [
  requirement('body/streams', 'a body reaches the upstream as it arrives, and goes on while the response streams', {
    answer({ socket, text }) {
      const body = text.slice(text.indexOf('\r\n\r\n') + 4)
      if (body.endsWith('first\r\n')) socket.write(stream + chunk('seen'))
      if (body.endsWith('0\r\n\r\n')) socket.write(`${chunk('all')}0\r\n\r\n`)
    },
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
      call.write('first')
      await waitFor(() => expect(call.answer.text).toBe('seen'))
      call.write('second')
      await waitForRequest(fixture, /first\r\n6\r\nsecond\r\n$/)
      call.end()
      await waitForEnd(call)
      expect(call.answer.text).toBe('seenall')
    },
  }),
  requirement('body/announced-too-large', 'a body that is announced too large is refused without a connection', {
    options: { max_body_bytes: 10 },
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'content-length': '11' })
      await waitFor(() => expect(call.answer.status).toBe(413))
      expect(fixture.server.connections).toEqual([])
    },
  }),
  requirement('body/too-large', 'a body that grows too large ends the request, and never completes at the upstream', {
    options: { max_body_bytes: 10 },
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
      call.write('x'.repeat(8))
      await waitForRequest(fixture, 'xxxxxxxx')
      call.write('y'.repeat(8))
      await waitFor(() => expect(call.answer.status).toBe(413))
      await waitForUpstreamClose(fixture)
      expect(received(fixture)).not.toMatch(/0\r\n\r\n$/)
    },
  }),
  requirement('body/client-leaves', 'a client that leaves within its body leaves no whole request at the upstream', {
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
      call.write('part')
      await waitForRequest(fixture, 'part')
      call.abort()
      await waitForUpstreamClose(fixture)
      expect(received(fixture)).toMatch(/part\r\n$/)
      await waitForFailure(fixture, 'gone')
    },
  }),
  requirement('body/too-slow', 'a body that trickles is refused, and ends at the upstream', {
    options: { inbound: { grace_ms: 1_000, body_rate: 500 } },
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
      call.write('part')
      await waitForRequest(fixture, 'part')
      fixture.clock.advance(2_000)
      await waitFor(() => expect(call.answer.status).toBe(408))
      await waitForUpstreamClose(fixture)
    },
  }),
  requirement('body/back-pressure', 'a client sends no faster than the upstream reads', {
    options: { max_body_bytes: 1 << 30 },
    answer(connection) {
      connection.text = connection.text.slice(-200)
    },
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
      await waitForRequest(fixture, 'chunked')
      const upstreamSocket = firstSocket(fixture)
      upstreamSocket.pause()
      const piece = Buffer.alloc(1 << 20, 'x')
      for (let at = 0; at < 64; at++) call.write(piece)
      call.end()
      await waitForRest(() => call.unsent_bytes())
      expect(call.unsent_bytes()).toBeGreaterThan(32 << 20)
      upstreamSocket.resume()
      await waitFor(() => expect(received(fixture).endsWith('0\r\n\r\n')).toBe(true))
      expect(call.unsent_bytes()).toBe(0)
    },
  }),
  requirement('body/of-get', 'a body of GET is refused: another server could take it for a request', {
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a', { 'content-length': '4' })
      call.write('body')
      call.end()
      await waitFor(() => expect(call.answer.status).toBe(400))
      expect(fixture.server.connections).toEqual([])
    },
  }),
]

const responseRequirements = [
  requirement(
    'response/streams',
    'events reach the client as they arrive, also after the time of any number of idle limits',
    {
      answer: answerTo('\r\n\r\n', stream),
      options: { limits: { idle_ms: 1_000, total_ms: undefined } },
      async verify(fixture) {
        const call = fixture.client.open('GET', '/events')
        call.end()
        await waitFor(() => expect(call.answer.status).toBe(200))
        for (let at = 1; at <= 5; at++) {
          fixture.clock.advance(900)
          firstSocket(fixture).write(chunk('tick'))
          await waitFor(() => expect(call.answer.text).toBe('tick'.repeat(at)))
        }
        call.abort()
        await waitForUpstreamClose(fixture)
        await waitForFailure(fixture, 'gone')
      },
    },
  ),
  requirement('response/early', 'a response that comes before the end of the body ends the request', {
    answer: answerTo('part', 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig'),
    async verify(fixture) {
      const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
      call.write('part')
      await waitForEnd(call)
      expect(call.answer).toMatchObject({ status: 413, text: 'big', isBroken: false })
      await waitForUpstreamClose(fixture)
      await waitForFailure(fixture, undefined)
    },
  }),
  requirement(
    'response/early-reset',
    'a response before the end of the body is not lost where the upstream resets the connection',
    {
      answer({ socket, text }) {
        if (!text.includes('\r\n\r\n')) return
        socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig', () => socket.resetAndDestroy())
      },
      options: { max_body_bytes: 1 << 30 },
      async verify(fixture) {
        for (let round = 0; round < 20; round++) {
          const call = fixture.client.open('POST', '/a', { 'transfer-encoding': 'chunked' })
          for (let at = 0; at < 8; at++) call.write(Buffer.alloc(1 << 16, 'x'))
          await waitFor(() => expect(call.answer.text).toBe('big'))
          expect(call.answer.status).toBe(413)
        }
      },
    },
  ),
  requirement('response/cut', 'a response that the upstream breaks off is broken off for the client', {
    answer: answerTo('\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart'),
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitFor(() => expect(call.answer.text).toBe('part'))
      firstSocket(fixture).destroy()
      await waitForBreak(call)
      await waitForFailure(fixture, 'closed')
    },
  }),
  requirement('response/fields', 'fields of the connection and trailers are dropped in both directions', {
    answer: answerTo(
      '\r\n\r\n',
      'HTTP/1.1 200 OK\r\nConnection: keep-alive, x-hop\r\nX-Hop: 1\r\nX-End: 2\r\nKeep-Alive: timeout=9\r\nTrailer: x-sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n',
    ),
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a', {
        te: 'trailers',
        'proxy-authorization': 'Basic eA==',
        'x-end': '3',
      })
      call.end()
      await waitForEnd(call)
      expect(call.answer.headers).toMatchObject({ 'x-end': '2' })
      for (const name of ['x-hop', 'trailer', 'x-sum']) expect(call.answer.headers).not.toHaveProperty(name)
      expect(JSON.stringify(call.answer.headers)).not.toContain('timeout=9')
      expect(received(fixture)).toBe('GET /a HTTP/1.1\r\nhost: upstream\r\nx-end: 3\r\n\r\n')
    },
  }),
  requirement(
    'response/slow-reader',
    'the upstream sends no faster than the client reads, and a client that stops is cut off',
    {
      answer: answerTo('\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 268435456\r\n\r\n'),
      options: { inbound: { answer_grace_ms: 5_000, answer_rate: 1_000 } },
      async verify(fixture) {
        const call = fixture.client.open('GET', '/a')
        call.end()
        call.pause()
        await waitForRequest(fixture, '/a')
        const socket = firstSocket(fixture)
        const piece = Buffer.alloc(1 << 20, 'x')
        for (let at = 0; at < 256; at++) socket.write(piece)
        // The rest waits at the upstream, however long it takes.
        await waitForRest(() => socket.writableLength)
        expect(socket.writableLength).toBeGreaterThan(1 << 27)
        await waitFor(() => {
          fixture.clock.advance(1_000)
          expect(fixture.forwarder.faults).toEqual(['slow_reader'])
        })
        await waitForUpstreamClose(fixture)
      },
    },
  ),
]

const limitRequirements = [
  requirement('limit/idle', 'an upstream that sends nothing for the idle limit of the route is given up', {
    options: { limits: { idle_ms: 1_000, total_ms: undefined } },
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForRequest(fixture, '/a')
      fixture.clock.advance(1_001)
      await waitFor(() => expect(call.answer.status).toBe(504))
      await waitForUpstreamClose(fixture)
    },
  }),
  requirement('limit/total', 'a response that advances is broken off at the total limit of the route', {
    answer: answerTo('\r\n\r\n', stream + chunk('one')),
    options: { limits: { idle_ms: 1_000, total_ms: 2_500 } },
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      for (let at = 1; at <= 2; at++) {
        await waitFor(() => expect(call.answer.text).toHaveLength(at * 3))
        fixture.clock.advance(900)
        firstSocket(fixture).write(chunk('two'))
      }
      await waitFor(() => expect(call.answer.text).toHaveLength(9))
      fixture.clock.advance(900)
      await waitForBreak(call)
      await waitForFailure(fixture, 'timeout')
    },
  }),
  requirement('limit/cut', 'a role can end an exchange at any time', {
    answer: answerTo('\r\n\r\n', stream + chunk('one')),
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitFor(() => expect(call.answer.text).toBe('one'))
      fixture.forwarder.cutLast()
      await waitForBreak(call)
      await waitForUpstreamClose(fixture)
    },
  }),
]

const retryRequirements = [
  requirement(
    'retry/idempotent',
    'PUT without a body is sent again where a kept connection closes unanswered; POST is not',
    {
      answer({ socket, text }) {
        const requests = text.match(/HTTP\/1\.1\r\n/g)?.length ?? 0
        if (requests === 1) socket.write(ok)
        else socket.destroy()
      },
      async verify(fixture) {
        for (const [method, status] of [
          ['PUT', 200],
          ['PUT', 200],
          ['POST', 502],
        ] as const) {
          await waitFor(() => expect(fixture.forwarder.upstream.counts().waiting).toBe(0))
          const call = fixture.client.open(method, '/a', { 'content-length': '0' })
          call.end()
          await waitFor(() => expect(call.answer.status).toBe(status))
          await new Promise((resolve) => setImmediate(resolve))
        }
        expect(fixture.server.lines().map((line) => line.split(' ')[0])).toEqual(['PUT', 'PUT', 'PUT', 'POST'])
      },
    },
  ),
]

export const forwardRequirements: readonly ForwardRequirement[] = [
  ...methodRequirements,
  ...bodyRequirements,
  ...responseRequirements,
  ...limitRequirements,
  ...retryRequirements,
]
