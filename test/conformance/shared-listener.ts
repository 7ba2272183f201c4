// What a listener must keep that serves operations and forwards the other paths, as data: for each of its protocols.
import { expect } from 'vitest'
import {
  answerTo,
  type ForwardFixture,
  type ForwardRequirement,
  ok,
  received,
  requirement,
  waitFor,
  waitForEnd,
  waitForRequest,
} from './forward-requirement.ts'

const admin = { authorization: 'Bearer alice.admin' }
const json = { ...admin, 'content-type': 'application/json' }
const expectUntouched = ({ server }: ForwardFixture) => expect(server.connections).toEqual([])

/** Every request line that the router takes for `/open`, or could, of an operation that has GET alone. */
const spellings = ['/open', '/open?x=/a', '/%6fpen', '/%6Fp%65n?a', '/open?']

const routeRequirements = [
  requirement('shared/operation', 'an operation is performed, and nothing is forwarded', {
    async verify(fixture) {
      const call = fixture.client.open('GET', '/echo/a%2Fb', admin)
      call.end()
      await waitForEnd(call)
      expect(call.answer.status).toBe(200)
      expect(JSON.parse(call.answer.text)).toMatchObject({ id: 'a/b', version: 7 })
      expect(call.answer.headers).toMatchObject({ etag: '"7"', 'cache-control': 'no-store' })
      expectUntouched(fixture)
    },
  }),
  requirement('shared/forwarded', 'a path of no operation is forwarded with what its caller presents, never as local', {
    answer: answerTo('\r\n\r\n', ok),
    async verify(fixture) {
      const call = fixture.client.open('GET', '/userspace/signal/1', { authorization: 'Bearer alice.admin' })
      call.end()
      await waitForEnd(call)
      expect(call.answer).toMatchObject({ status: 200, text: 'ok' })
      expect(received(fixture)).toMatch(/^GET \/userspace\/signal\/1 HTTP\/1\.1\r\n/)
      expect(fixture.forwarder.presented).toEqual([{ bearer: 'alice.admin', certificate: undefined, isLocal: false }])
      expect(fixture.forwarder.echo.controls.verified).toEqual([])
    },
  }),
  ...['DELETE', 'POST', 'PROPFIND', 'OPTIONS'].flatMap((method) =>
    spellings.map((path) =>
      requirement(`shared/method ${method} ${path}`, 'a path of an operation is forwarded by no method', {
        async verify(fixture) {
          const call = fixture.client.open(method, path)
          call.end()
          await waitForEnd(call)
          expect(call.answer.status).toBe(405)
          expect(call.answer.headers.allow).toBe('GET, HEAD')
          expectUntouched(fixture)
        },
      }),
    ),
  ),
  ...['GET', 'PROPFIND'].map((method) =>
    requirement(`shared/undecodable ${method}`, 'a path that cannot be decoded is neither performed nor forwarded', {
      async verify(fixture) {
        const call = fixture.client.open(method, '/op%e0n')
        call.end()
        await waitForEnd(call)
        expect(call.answer.status).toBe(400)
        expectUntouched(fixture)
      },
    }),
  ),
  requirement('shared/head', 'HEAD of an operation has the head of GET alone', {
    async verify(fixture) {
      const call = fixture.client.open('HEAD', '/open')
      call.end()
      await waitForEnd(call)
      expect(call.answer).toMatchObject({ status: 200, text: '' })
      expect(call.answer.headers['content-length']).toBe('23')
    },
  }),
]

const bodyRequirements = [
  ...[{ 'content-length': '11' }, { 'transfer-encoding': 'chunked' }].map((framing) =>
    requirement(`shared/body ${Object.keys(framing)}`, 'an operation reads its body, however it is framed', {
      async verify(fixture) {
        const call = fixture.client.open('POST', '/any', { ...json, ...framing })
        call.write('{"a":')
        call.write('"bcd"}')
        call.end()
        await waitForEnd(call)
        expect(call.answer).toMatchObject({ status: 200, text: '{"a":"bcd"}' })
      },
    }),
  ),
  requirement('shared/limits', 'each kind has its own limit of bodies', {
    answer: answerTo('x'.repeat(100), ok),
    async verify(fixture) {
      const body = 'x'.repeat(20_000)
      const refused = fixture.client.open('POST', '/echo/a', { ...json, 'content-length': '20000' })
      await waitForEnd(refused)
      expect(refused.answer.status).toBe(413)
      const unknown = fixture.client.open('POST', '/echo/a', { ...json, 'transfer-encoding': 'chunked' })
      unknown.write(`{"text":"${body}`)
      await waitFor(() => expect(unknown.answer.status).toBe(413))
      expectUntouched(fixture)
      const forwarded = fixture.client.open('POST', '/a', { 'content-length': '20000' })
      forwarded.write(body)
      forwarded.end()
      await waitFor(() => expect(forwarded.answer.text).toBe('ok'))
    },
  }),
  requirement('shared/early', 'an operation is refused by its head alone, and its body is no request', {
    async verify(fixture) {
      const call = fixture.client.open('POST', '/any', { 'content-type': 'application/json', 'content-length': '1000' })
      await waitFor(() => expect(call.answer.status).toBe(401))
      call.write('GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n')
      await waitFor(() => expect(call.answer.isEnded || call.answer.isBroken).toBe(true))
      expectUntouched(fixture)
    },
  }),
  requirement('shared/continue', 'a client that waits sends the body of an operation once it is admitted', {
    async verify(fixture) {
      const call = fixture.client.open('POST', '/any', { ...json, expect: '100-continue', 'content-length': '2' })
      call.write('{}')
      call.end()
      await waitForEnd(call)
      expect(call.answer).toMatchObject({ status: 200, text: '{}' })
    },
  }),
  requirement('shared/client-leaves', 'a client that leaves ends its operation', {
    async verify(fixture) {
      const { controls } = fixture.forwarder.echo
      const call = fixture.client.open('POST', '/wait', { 'content-type': 'application/json', 'content-length': '2' })
      call.write('{}')
      call.end()
      await waitFor(() => expect(controls.signals).toHaveLength(1))
      call.abort()
      await waitFor(() => expect(controls.signals.map(({ aborted }) => aborted)).toEqual([true]))
      controls.release()
    },
  }),
]

const streamRequirements = [
  requirement('shared/stream', 'a stream of events goes on beside requests that are forwarded', {
    answer: answerTo('\r\n\r\n', ok),
    async verify(fixture) {
      const { controls } = fixture.forwarder.echo
      const stream = fixture.client.open('GET', '/stream')
      await waitFor(() => expect(stream.answer.text).toContain('"id":3'))
      const call = fixture.client.open('GET', '/a')
      call.end()
      await waitForEnd(call)
      controls.emit({ id: '4', event: 'more', data: {} })
      await waitFor(() => expect(stream.answer.text).toContain('event: more'))
      controls.emit({ event: 'end', data: {} })
      await waitForEnd(stream)
      expect(controls.streams()).toBe(0)
    },
  }),
  requirement('shared/large', 'an answer waits for its reader, and arrives whole', {
    async verify(fixture) {
      const call = fixture.client.open('GET', '/large?bytes=4000000', admin)
      call.pause()
      call.end()
      await waitFor(() => expect(call.answer.status).toBe(200))
      call.resume()
      await waitForEnd(call)
      expect(call.answer.text).toHaveLength(4_000_011)
    },
  }),
  requirement('shared/parallel', 'both kinds are served at once', {
    answer: ({ socket }) => void socket.write(ok),
    async verify(fixture) {
      const calls = Array.from({ length: 20 }, (_, at) => fixture.client.open('GET', at % 2 === 0 ? '/open' : '/a'))
      for (const call of calls) call.end()
      await waitForRequest(fixture, '/a')
      for (const [at, call] of calls.entries()) {
        await waitForEnd(call)
        expect(call.answer.text).toBe(at % 2 === 0 ? '{"subject":"anonymous"}' : 'ok')
      }
    },
  }),
]

export const sharedListenerRequirements: readonly ForwardRequirement[] = [
  ...routeRequirements,
  ...bodyRequirements,
  ...streamRequirements,
]
