// Requirements on the way back: responses that stream, come early, break off or are read slowly.
import { expect } from 'vitest'
import {
  answerTo,
  chunk,
  firstSocket,
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

export const responseRequirements = [
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
]

/** With more bytes than buffers take. */
export const responseFlowRequirements = [
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
