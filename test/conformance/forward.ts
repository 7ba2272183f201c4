// Everything that forwarding must keep, as data: for each protocol of the listener, before one upstream and before a pool.
import { expect } from 'vitest'
import { departureRequirements } from './forward-departures.ts'
import { heldFlowRequirements, heldRequirements } from './forward-held.ts'
import {
  answerTo,
  chunk,
  type ForwardRequirement,
  firstSocket,
  ok,
  received,
  requirement,
  stream,
  waitFor,
  waitForBreak,
  waitForEnd,
  waitForFailure,
  waitForRequest,
  waitForRest,
  waitForUpstreamClose,
} from './forward-requirement.ts'
import { responseFlowRequirements, responseRequirements } from './forward-responses.ts'

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

const targetRequirements = [
  requirement('target/asterisk', 'a target that is not a path is refused without a connection', {
    async verify(fixture) {
      const call = fixture.client.open('OPTIONS', '*')
      call.end()
      await waitFor(() => expect(call.answer.status).toBe(400))
      expect(fixture.server.connections).toEqual([])
    },
  }),
]

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

/** With more bytes than buffers take. */
const bodyFlowRequirements = [
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
  ...targetRequirements,
  ...bodyRequirements,
  ...departureRequirements,
  ...responseRequirements,
  ...heldRequirements,
  ...limitRequirements,
  ...retryRequirements,
]

/** Requirements that move megabytes, and take most of the time. */
export const forwardFlowRequirements: readonly ForwardRequirement[] = [
  ...bodyFlowRequirements,
  ...responseFlowRequirements,
  ...heldFlowRequirements,
]
