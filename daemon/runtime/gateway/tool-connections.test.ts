// Connections to tools are kept for a token, opened again when their session is gone, and spared after failures.
import { beforeEach, describe, expect, test } from 'vitest'
import { systemRandom } from '../../../adapters/host/random/system-random.ts'
import { refuse } from '../../kernel/error/errors.ts'
import { UnknownCallRefusal } from '../../kernel/tools/client-input.ts'
import type { RemoteToolCall, RemoteToolResult, ToolConnection, ToolServices } from '../../kernel/tools/tool-service.ts'
import { type ConnectedCall, ToolConnections } from './tool-connections.ts'

const result: RemoteToolResult = { is_error: false, content: [] }
let now = 0
let opened: string[] = []
let closed = 0
let answer: (call: RemoteToolCall, connection: number) => Promise<RemoteToolResult>
let connections: ToolConnections
beforeEach(() => {
  now = 0
  opened = []
  closed = 0
  answer = async () => result
  connections = new ToolConnections(() => now, systemRandom())
})

const services: ToolServices = {
  async connect({ token }) {
    const at = opened.push((await token()) ?? 'none')
    return {
      ...{ revision: '2026-07-28', service: undefined, listTools: async () => [] },
      ...{ hasResources: false, reportsAll: false, listResources: async () => [], readResource: async () => undefined },
      callTool: (call) => answer(call, at),
      callForClient: (call) => answer(call, at),
      waitForChange: async () => 'unsupported',
      async close() {
        closed += 1
      },
    } satisfies ToolConnection
  },
}

const ask = (token: string | undefined, more: Partial<ConnectedCall> = {}) =>
  connections.callTool({
    ...{
      services,
      service: 'maps',
      address: { url: new URL('http://maps.example/mcp') },
      token,
      isRead: false,
      caller: token ?? 'none',
    },
    call: { name: 'route', input: {}, timeout_ms: 1_000 },
    ...more,
  })
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answered',
    (error) => error.code,
  )

test('calls with one token share a connection, and another token gets its own', async () => {
  for (const token of ['ann', 'ann', 'bob', 'ann']) await ask(token)
  expect(opened).toEqual(['ann', 'bob'])
})

test('callers that may get requests of a service share no connection, with or without a token', async () => {
  const client = { abilities: { elicitation: {} } }
  for (const caller of ['ann', 'bob', 'ann']) await ask(undefined, { caller, client })
  expect(opened).toEqual(['none', 'none'])
})

test('a connection that nobody used for a minute is closed', async () => {
  await ask('ann')
  now = 61_000
  await ask('bob')
  await ask('ann')
  expect([opened, closed]).toEqual([['ann', 'bob', 'ann'], 1])
})

test('beyond their number, the one that was not used for longest is closed', async () => {
  for (let at = 0; at < 520; at += 1) await ask(`caller-${at}`)
  expect(closed).toBe(8)
  await ask('caller-519')
  expect(opened).toHaveLength(520)
})

describe('a session that the service has forgotten', () => {
  const forget = async (_: RemoteToolCall, connection: number) => {
    if (connection === 1) throw refuse('not_found', 'no such session')
    return result
  }

  test('is opened again, and the call made once more', async () => {
    await ask('ann')
    answer = forget
    expect(await ask('ann')).toBe(result)
    expect([opened.length, closed]).toEqual([2, 1])
  })

  test('is an answer over a new connection', async () => {
    answer = forget
    expect(await codeOf(ask('ann'))).toBe('not_found')
    expect(opened).toHaveLength(1)
  })
})

test.each([
  [true, 'answered'],
  [false, 'unavailable'],
])('a connection that breaks off: a call that only reads (%s) is made again', async (isRead, outcome) => {
  await ask('ann')
  answer = async (_, connection) => {
    if (connection === 1) throw refuse('unavailable', 'broke off')
    return result
  }
  expect(await codeOf(ask('ann', { isRead }))).toBe(outcome)
  expect(await codeOf(ask('ann'))).toBe('answered')
})

test('a service that fails for a caller is spared by it, not by others, nor are other services', async () => {
  answer = async () => {
    throw refuse('timeout', 'no answer')
  }
  for (let at = 0; at < 5; at += 1) expect(await codeOf(ask('ann'))).toBe('timeout')
  await expect(ask('ann')).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 5 })
  answer = async () => result
  expect(await codeOf(ask('bob'))).toBe('answered')
  expect(await codeOf(ask('ann', { service: 'other' }))).toBe('answered')
  now = 5_000
  expect(await codeOf(ask('ann'))).toBe('answered')
})

test('a service that several callers cannot reach is spared by all', async () => {
  const down: ToolServices = {
    connect: async () => {
      throw refuse('unavailable', 'cannot be reached')
    },
  }
  for (const caller of ['a', 'b', 'c', 'd', 'e'])
    expect(await codeOf(ask(caller, { services: down }))).toBe('unavailable')
  await expect(ask('f')).rejects.toMatchObject({ message: expect.stringContaining('tried again in 5 s') })
  now = 5_000
  expect([await codeOf(ask('f')), await codeOf(ask('a'))]).toEqual(['answered', 'answered'])
})

test('what callers give up, or request wrongly, says nothing of the service', async () => {
  const cancelled = AbortSignal.abort()
  answer = async (call) => {
    throw call.cancelled ? refuse('timeout', 'cancelled') : refuse('invalid', 'a wrong field')
  }
  const call = { name: 'route', input: {}, timeout_ms: 1_000 }
  for (let at = 0; at < 8; at += 1) await codeOf(ask('ann', { call: { ...call, cancelled } }))
  for (let at = 0; at < 8; at += 1) expect(await codeOf(ask('ann'))).toBe('invalid')
})

test('input for a call that no longer waits is neither a success nor a failure of the service', async () => {
  answer = async ({ continuation }) => {
    throw continuation ? new UnknownCallRefusal() : refuse('timeout', 'no answer')
  }
  const client = { abilities: {}, continuation: { responses: {}, state: 'unknown' } }
  for (let at = 0; at < 4; at += 1) expect(await codeOf(ask('ann'))).toBe('timeout')
  for (let at = 0; at < 8; at += 1) expect(await codeOf(ask('ann', { client }))).toBe('invalid')
  expect(await codeOf(ask('ann'))).toBe('timeout')
  await expect(ask('ann')).rejects.toMatchObject({ code: 'unavailable', retry_after_s: 5 })
})

test.each(['timeout', 'forbidden', 'rate_limited'] as const)(
  'an opening that ends in %s is tried again by the next call',
  async (code) => {
    let isDown = true
    const flaky: ToolServices = {
      connect: async (address) => {
        if (isDown) throw refuse(code, 'not now')
        return await services.connect(address)
      },
    }
    expect(await codeOf(ask(undefined, { services: flaky }))).toBe(code)
    isDown = false
    expect(await codeOf(ask(undefined, { services: flaky }))).toBe('answered')
  },
)

test('a call that breaks off ends no other call over its connection', async () => {
  await ask(undefined)
  const { promise, resolve } = Promise.withResolvers<RemoteToolResult>()
  answer = async ({ name }) => {
    if (name === 'slow') return await promise
    throw refuse('unavailable', 'the answer is too large')
  }
  const slow = ask(undefined, { call: { name: 'slow', input: {}, timeout_ms: 1_000 } })
  expect(await codeOf(ask(undefined))).toBe('unavailable')
  expect(closed).toBe(0)
  resolve(result)
  expect(await slow).toBe(result)
  await Promise.resolve()
  expect(closed).toBe(1)
})
