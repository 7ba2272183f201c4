// A pool against members that refuse, fail and recover, on real sockets, in simulated time.
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'
import { manualCoarseClock } from '../../../test/support/clock/manual-coarse-clock.ts'
import { type RawConnection, type RawUpstream, startRawUpstream } from '../../../test/support/proxy/raw-upstream.ts'
import { createRecordingSink, pollOptions } from '../../../test/support/proxy/upstream-fixture.ts'
import { addressRule } from '../../platform/address-rule/address-rule.ts'
import { defaultUpstreamLimits } from './limits.ts'
import type { PoolLimits } from './pool-members.ts'
import { defaultPoolLimits, upstreamPool } from './upstream-pool.ts'

const openResources: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of openResources.splice(0)) await one.close()
})

const waitFor = (check: () => void) => vi.waitFor(check, pollOptions)
const respond = (status: number, text: string) => (connection: RawConnection) =>
  void connection.socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: ${text.length}\r\n\r\n${text}`)

async function startMember(answer: (connection: RawConnection) => void): Promise<RawUpstream> {
  const server = await startRawUpstream((connection, requests) => {
    if (requests > 0) answer(connection)
  })
  openResources.push(server)
  return server
}

function startPool(ports: readonly number[], pool: Partial<PoolLimits> = {}) {
  const clock = manualCoarseClock()
  const client = upstreamPool({
    origins: ports.map((port) => ({ host: '127.0.0.1', port })),
    rule: addressRule(['127.0.0.0/8']),
    limits: defaultUpstreamLimits,
    clock,
    pool: { ...defaultPoolLimits, probe_interval_ms: Number.POSITIVE_INFINITY, ...pool },
  })
  openResources.unshift(client)
  const send = async (changes: Partial<UpstreamRequest> = {}) => {
    const { calls, ...sink } = createRecordingSink()
    client.forward({ method: 'GET', path: '/a', headers: ['host', 'up'], ...changes }, { ...sink })
    await waitFor(() => expect(calls.events.at(-1)).toMatch(/^(end|fail)/))
    return calls
  }
  const states = () => client.members().map(({ state }) => state)
  return { clock, client, send, states }
}

/** A port that nothing listens on. */
async function findClosedPort(): Promise<number> {
  const { port, close } = await startRawUpstream(() => undefined)
  await close()
  return port
}

describe('a request', () => {
  test('goes to the members in turn, and to the one with fewer active requests', async () => {
    const first = await startMember(respond(200, 'one'))
    const second = await startMember(respond(200, 'two'))
    const { send, client } = startPool([first.port, second.port])
    const bodies = [await send(), await send(), await send(), await send()].map(({ body }) => body)
    expect(bodies).toEqual(['one', 'two', 'one', 'two'])
    const silent = await startMember(() => undefined)
    const busy = startPool([silent.port, second.port])
    busy.client.forward({ method: 'GET', path: '/a', headers: ['host', 'up'] }, createRecordingSink())
    expect([(await busy.send()).body, (await busy.send()).body]).toEqual(['two', 'two'])
    expect(client.counts().waiting).toBe(0)
  })

  test('of any method tries another member where none of it was sent, with a streamed body too', async () => {
    const live = await startMember((connection) => {
      if (connection.text.endsWith('abc')) respond(200, 'ok')(connection)
    })
    const closed = await findClosedPort()
    const { client, states } = startPool([closed, live.port], { failures: 1 })
    const sink = createRecordingSink()
    const active = client.forward(
      {
        method: 'POST',
        path: '/a',
        headers: ['host', 'up'],
        body: { length: 3, ready: () => void active.write(Buffer.from('abc')), drained: () => undefined },
      },
      sink,
    )
    await waitFor(() => expect(sink.calls.body).toBe('ok'))
    expect(states()).toEqual(['ejected', 'up'])
  })

  test('is sent again after a closed connection only where the method is idempotent', async () => {
    const closing = await startMember(({ socket }) => socket.destroy())
    const live = await startMember(respond(200, 'ok'))
    const { send } = startPool([closing.port, live.port], { failures: 100 })
    expect((await send({ method: 'DELETE' })).body).toBe('ok')
    await send()
    const outcomes = [await send({ method: 'POST' }), await send({ method: 'POST' })].map(({ events }) => events.at(-1))
    expect(outcomes.sort()).toEqual(['end', 'fail closed'])
    expect(live.lines().filter((line) => line.startsWith('POST'))).toHaveLength(1)
  })

  test('that was answered in part is not sent again', async () => {
    const breaking = await startMember(({ socket }) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart')
    })
    const live = await startMember(respond(200, 'ok'))
    const { send, states } = startPool([breaking.port, live.port])
    expect((await send()).events.at(-1)).toBe('fail closed')
    expect(live.lines()).toEqual([])
    expect(states()).toEqual(['up', 'up'])
  })
})

describe('a member', () => {
  test('that answers 503 three times is ejected, tried again after a time, and is up after one good answer', async () => {
    let status = 503
    const failing = await startMember((connection) => respond(status, 'one')(connection))
    const live = await startMember(respond(200, 'two'))
    const { send, states, clock } = startPool([failing.port, live.port], { ejection_ms: 1_000 })
    for (let at = 0; at < 6; at++) await send()
    expect(states()).toEqual(['ejected', 'up'])
    expect((await send()).body).toBe('two')
    expect((await send()).body).toBe('two')
    status = 200
    clock.advance(1_000)
    expect(states()).toEqual(['recovering', 'up'])
    await send()
    await send()
    expect(states()).toEqual(['up', 'up'])
  })

  test('that fails its probes is down until one succeeds; a pool without members up fails at once', async () => {
    let status = 500
    const server = await startMember((connection) => respond(status, '')(connection))
    const { send, states, clock, client } = startPool([server.port], { probe_interval_ms: 1_000, probe_path: '/live' })
    for (let at = 1; at <= 3; at++) {
      clock.advance(1_000)
      await waitFor(() => expect(server.lines()).toHaveLength(at))
      await waitFor(() => expect(client.counts().idle).toBe(1))
    }
    await waitFor(() => expect(states()).toEqual(['down']))
    expect(server.lines()).toEqual(Array(3).fill('GET /live HTTP/1.1'))
    expect((await send()).events).toEqual(['fail no_member'])
    status = 200
    clock.advance(1_000)
    await waitFor(() => expect(states()).toEqual(['up']))
    expect((await send()).events.at(-1)).toBe('end')
  })

  test('that does not answer a probe in time has failed it', async () => {
    const server = await startMember(() => undefined)
    const { states, clock } = startPool([server.port], { failures: 1, probe_interval_ms: 10_000, probe_ms: 500 })
    clock.advance(10_000)
    await waitFor(() => expect(server.lines()).toHaveLength(1))
    clock.advance(501)
    await waitFor(() => expect(states()).toEqual(['down']))
  })
})
