// Requirements on roles that decide about a request, or record a response, before they let it go on.
import { expect } from 'vitest'
import {
  answerTo,
  chunk,
  firstSocket,
  ok,
  received,
  requirement,
  stream,
  waitFor,
  waitForBreak,
  waitForEnd,
  waitForFailure,
  waitForHeld,
  waitForRest,
  waitForUpstreamClose,
} from './forward-requirement.ts'

export const heldRequirements = [
  requirement('held/whole', 'a response that is complete before its release reaches the client with its release', {
    answer: answerTo('\r\n\r\n', ok),
    options: { holds: 'responses' },
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForHeld(fixture)
      await waitForFailure(fixture, undefined)
      expect(call.answer.status).toBe(0)
      fixture.forwarder.release()
      await waitForEnd(call)
      expect(call.answer).toMatchObject({ status: 200, text: 'ok', isBroken: false })
      expect(call.answer.headers).toMatchObject({ 'content-length': '2' })
    },
  }),
  requirement('held/head', 'a response to HEAD keeps its length, held or not', {
    answer: answerTo('\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n'),
    options: { holds: 'responses' },
    async verify(fixture) {
      const call = fixture.client.open('HEAD', '/a')
      call.end()
      await waitForHeld(fixture)
      fixture.forwarder.release()
      await waitForEnd(call)
      expect(call.answer.headers).toMatchObject({ 'content-length': '7' })
      expect(call.answer).toMatchObject({ status: 200, text: '', isBroken: false })
    },
  }),
  requirement('held/streams', 'a response that is released within its body goes on in order', {
    answer: answerTo('\r\n\r\n', stream + chunk('one')),
    options: { holds: 'responses' },
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForHeld(fixture)
      fixture.forwarder.release()
      await waitFor(() => expect(call.answer.text).toBe('one'))
      firstSocket(fixture).write(`${chunk('two')}0\r\n\r\n`)
      await waitForEnd(call)
      expect(call.answer.text).toBe('onetwo')
    },
  }),
  requirement('held/broken', 'a response that breaks off before its release is broken off for the client', {
    answer({ socket, text }) {
      if (text.endsWith('\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart')
    },
    options: { holds: 'responses' },
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForHeld(fixture)
      await waitForFailure(fixture, 'closed')
      fixture.forwarder.release()
      await waitForBreak(call)
      expect(call.answer.isEnded).toBe(false)
    },
  }),
  requirement(
    'held/client-leaves',
    'a client that leaves while its response is held ends the request at the upstream',
    {
      answer: answerTo('\r\n\r\n', stream + chunk('one')),
      options: { holds: 'responses' },
      async verify(fixture) {
        const call = fixture.client.open('GET', '/a')
        call.end()
        await waitForHeld(fixture)
        call.abort()
        await waitForUpstreamClose(fixture)
        await waitForFailure(fixture, 'gone')
        fixture.forwarder.release()
        expect(fixture.forwarder.ends).toEqual(['gone'])
      },
    },
  ),
  requirement('held/request', 'a request whose client left while the role decided is not forwarded', {
    options: { holds: 'requests' },
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForHeld(fixture)
      call.abort()
      await waitFor(() => expect(fixture.forwarder.connections()).toBe(0))
      fixture.forwarder.release()
      await waitForFailure(fixture, 'gone')
      expect([fixture.server.connections, received(fixture)]).toEqual([[], ''])
    },
  }),
]

/** With more bytes than buffers take. */
export const heldFlowRequirements = [
  requirement('held/back-pressure', 'the upstream sends little more than the held bytes before the release', {
    answer: answerTo('\r\n\r\n', `HTTP/1.1 200 OK\r\nContent-Length: ${64 << 20}\r\n\r\n`),
    options: { holds: 'responses' },
    async verify(fixture) {
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForHeld(fixture)
      const socket = firstSocket(fixture)
      for (let at = 0; at < 64; at++) socket.write(Buffer.alloc(1 << 20, String(at % 10)))
      await waitForRest(() => socket.writableLength)
      expect(socket.writableLength).toBeGreaterThan(32 << 20)
      fixture.forwarder.release()
      await waitForEnd(call)
      expect(call.answer.text.length).toBe(64 << 20)
      for (let at = 0; at < 64; at++) expect(call.answer.text[at << 20]).toBe(String(at % 10))
    },
  }),
]
