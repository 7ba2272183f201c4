// What a tool call has in common with a request over REST: time, size, cancellation, what is counted, what fails.
import { describe, expect, test } from 'vitest'
import type { Limits } from '../../adapters/serve/http/limits.ts'
import { mcpSurface } from '../../adapters/serve/mcp/surface.ts'
import type { Addressed } from '../../daemon/kernel/operation.ts'
import { problem } from '../../daemon/kernel/problem.ts'
import { heard } from '../support/http-exchange.ts'
import { callTool, openSession, post, request } from '../support/mcp/messages.ts'
import { served } from '../support/served.ts'
import { until } from '../support/site-world.ts'

const token = 'alice.admin'
const asTool = (target: Addressed): Addressed => ({
  ...target,
  operation: { ...target.operation, tool: target.address.split('.').at(-1) ?? '' },
})

/** The echo role with each of its operations as a tool, but for the streams. */
async function tools(limits: Partial<Limits> = {}) {
  const surfaceOf = (operations: readonly Addressed[]) =>
    mcpSurface({
      role: 'test',
      about: { name: 'test', version: '1' },
      resources: [],
      offered: operations.filter(({ operation }) => !operation.streams).map(asTool),
      door: { hosts: new Set(['127.0.0.1', 'localhost']), origins: new Set() },
      public_url: undefined,
      isTls: false,
      authorization_servers: ['https://issuer.example'],
      sessions: { per_caller: 2, idle_ms: 60_000, age_ms: 60_000 },
      now: () => performance.now(),
      random: (bytes) =>
        crypto
          .randomUUID()
          .replaceAll('-', '')
          .repeat(2)
          .slice(0, bytes * 2),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    })
  const at = await served({ limits }, surfaceOf)
  return { ...at, port: at.server.port }
}

const problemIn = ({ content }: { content: readonly { text: string }[] }) =>
  problem.parse(JSON.parse(content[0]?.text ?? ''))

describe('a tool call', () => {
  test('that takes too long is given up, and says so', async () => {
    const { port, echo, metrics } = await tools({ request_ms: 300 })
    const result = await callTool(port, 'wait', {}, { token })
    expect(problemIn(result)).toMatchObject({ code: 'timeout', status: 503 })
    expect(echo.handle.signals[0]?.aborted).toBe(true)
    expect(await metrics.text()).toContain('http_requests_total{operation="test.echo.wait",status="503"} 1')
  })

  test('is cancelled by a later message of its session, and by none of another', async () => {
    const { port, echo, metrics } = await tools()
    const { headers } = await openSession(port, token)
    const other = await openSession(port, token)
    const params = { name: 'wait', arguments: {} }
    const waiting = post(port, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, { token, headers })
    await until(() => echo.handle.signals[0])
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await post(port, cancel, { token, headers: other.headers })).status).toBe(202)
    const twice = await post(port, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, { token, headers })
    expect(twice.status).toBe(400)
    expect(echo.handle.signals.map(({ aborted }) => aborted)).toEqual([false])
    expect((await post(port, cancel, { token, headers })).status).toBe(202)
    expect((await waiting).json).toMatchObject({ id: 7, result: { isError: true } })
    expect(echo.handle.signals[0]?.aborted).toBe(true)
    expect(await metrics.text()).toContain('http_requests_total{operation="test.echo.wait",status="aborted"} 1')
  })

  test('ends with its session', async () => {
    const { port, echo } = await tools()
    const { headers } = await openSession(port, token)
    const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'wait', arguments: {} } }
    const waiting = post(port, body, { token, headers })
    await until(() => echo.handle.signals[0])
    const emptied = { ...headers, 'content-type': 'application/json' }
    const ended = await heard({ port, method: 'DELETE', path: '/agentspace', token, headers: emptied })
    expect(ended).toMatchObject({ status: 204, text: '' })
    expect((await waiting).json).toMatchObject({ result: { isError: true } })
  })

  test('whose client has gone is given up', async () => {
    const { port, echo } = await tools()
    const controller = new AbortController()
    const gone = fetch(`http://127.0.0.1:${port}/agentspace`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(await openSession(port, token)).headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } }),
    })
    const signal = await until(() => echo.handle.signals[0])
    controller.abort()
    await expect(gone).rejects.toThrow()
    await until(() => signal.aborted)
  })

  test('is no larger than its operation takes', async () => {
    const { port } = await tools()
    const write = (length: number) => callTool(port, 'write', { id: 'x', text: 'x'.repeat(length) }, { token })
    expect(problemIn(await write(10_000))).toMatchObject({ code: 'too_large', status: 413 })
    expect(await write(8_000)).not.toHaveProperty('isError')
    const answer = await request(
      port,
      'tools/call',
      { name: 'any', arguments: { a: 'x'.repeat(1_048_576) } },
      { token },
    )
    expect(answer.status).toBe(413)
  })

  test('that fails or is refused says so in a problem document, and nothing of the inside', async () => {
    const { port } = await tools()
    const broken = await callTool(port, 'broken', {}, { token })
    expect(problemIn(broken)).toMatchObject({ code: 'internal', status: 500 })
    expect(JSON.stringify(broken)).not.toContain('/secret/')
    expect(problemIn(await callTool(port, 'busy', {}, { token }))).toMatchObject({ code: 'rate_limited' })
    expect(problemIn(await callTool(port, 'down', {}, { token }))).toMatchObject({ code: 'unavailable' })
  })

  test('that answers with text, or with nothing, gives that', async () => {
    const { port } = await tools()
    expect(await callTool(port, 'text', {}, { token })).toEqual(
      expect.objectContaining({ content: [{ type: 'text', text: 'héllo' }] }),
    )
    expect(await callTool(port, 'remove', { id: 'x' }, { token })).toEqual(expect.objectContaining({ content: [] }))
  })

  test('takes conditions, keys and traces as headers, or in its own _meta', async () => {
    const { port } = await tools()
    const given = { 'idempotency-key': 'k-1', 'if-match': '"3"' }
    const meta = Object.fromEntries(Object.entries(given).map(([name, value]) => [`platform/${name}`, value]))
    for (const said of [{ headers: given }, { meta }]) {
      const { structuredContent } = await callTool(port, 'write', { id: 'x' }, { token, ...said })
      expect(structuredContent).toMatchObject({ key: 'k-1', if_match: 3 })
    }
    const bad = await callTool(port, 'write', { id: 'x' }, { token, meta: { 'platform/if-match': '3' } })
    expect(problemIn(bad)).toMatchObject({ code: 'malformed' })
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${trace}-b7ad6b7169203331-01`
    for (const said of [{ headers: { traceparent } }, { meta: { traceparent } }]) {
      const answer = await request(port, 'tools/call', { name: 'read', arguments: { id: 'x' } }, { token, ...said })
      expect(answer.headers.traceparent).toMatch(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)`))
      expect(answer.text).toContain(trace)
    }
  })

  test('is counted as its operation, everything else as what it is', async () => {
    const { port, metrics } = await tools()
    await callTool(port, 'any', { a: 1 }, { token })
    await callTool(port, 'write', { id: 'x' }, { token })
    await callTool(port, 'write', { id: 'x' }, { token: 'bob.none' })
    await request(port, 'tools/list', {}, { token })
    await request(port, 'tools/call', { name: 'nothing' }, { token })
    expect((await metrics.text()).split('\n').filter((line) => line.startsWith('http_requests_total'))).toEqual(
      expect.arrayContaining([
        'http_requests_total{operation="test.echo.any",status="200"} 1',
        'http_requests_total{operation="test.echo.write",status="201"} 1',
        'http_requests_total{operation="test.echo.write",status="403"} 1',
        'http_requests_total{operation="test.agentspace.message",status="200"} 2',
      ]),
    )
  })
})
