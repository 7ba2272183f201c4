// Properties that a tool call shares with a REST request: time, size, cancellation, counts and failures.
import { describe, expect, test } from 'vitest'
import { problem } from '../../daemon/kernel/error/problem.ts'
import { sendExactRequest } from '../support/http/send-exact-request.ts'
import { callTool, openMcpSession, postMcp, sendMcpRequest } from '../support/mcp/mcp-client.ts'
import { serveTools } from '../support/mcp/serve-tools.ts'
import { waitUntil } from '../support/site/test-site.ts'

const token = 'alice.admin'
const parseProblem = ({ content }: { content: readonly { text: string }[] }) =>
  problem.parse(JSON.parse(content[0]?.text ?? ''))

describe('a tool call', () => {
  test('gives up a call that takes too long, and reports it', async () => {
    const { port, echo, metrics } = await serveTools({ request_ms: 300 })
    const result = await callTool(port, 'wait', {}, { token })
    expect(parseProblem(result)).toMatchObject({ code: 'timeout', status: 503 })
    expect(echo.controls.signals[0]?.aborted).toBe(true)
    expect(await metrics.text()).toContain('http_requests_total{operation="test.echo.wait",status="503"} 1')
  })

  test('is cancelled by a later message of its session, and by none of another', async () => {
    const { port, echo, metrics } = await serveTools()
    const { headers } = await openMcpSession(port, token)
    const other = await openMcpSession(port, token)
    const params = { name: 'wait', arguments: {} }
    const waiting = postMcp(port, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, { token, headers })
    await waitUntil(() => echo.controls.signals[0])
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }
    expect((await postMcp(port, cancel, { token, headers: other.headers })).status).toBe(202)
    const twice = await postMcp(port, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, { token, headers })
    expect(twice.status).toBe(400)
    expect(echo.controls.signals.map(({ aborted }) => aborted)).toEqual([false])
    expect((await postMcp(port, cancel, { token, headers })).status).toBe(202)
    expect((await waiting).json).toMatchObject({ id: 7, result: { isError: true } })
    expect(echo.controls.signals[0]?.aborted).toBe(true)
    expect(await metrics.text()).toContain('http_requests_total{operation="test.echo.wait",status="aborted"} 1')
  })

  test('ends with its session', async () => {
    const { port, echo } = await serveTools()
    const { headers } = await openMcpSession(port, token)
    const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'wait', arguments: {} } }
    const waiting = postMcp(port, body, { token, headers })
    await waitUntil(() => echo.controls.signals[0])
    const emptied = { ...headers, 'content-type': 'application/json' }
    const ended = await sendExactRequest({ port, method: 'DELETE', path: '/agentspace', token, headers: emptied })
    expect(ended).toMatchObject({ status: 204, text: '' })
    expect((await waiting).json).toMatchObject({ result: { isError: true } })
  })

  test('gives up a call whose client has gone', async () => {
    const { port, echo } = await serveTools()
    const controller = new AbortController()
    const gone = fetch(`http://127.0.0.1:${port}/agentspace`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(await openMcpSession(port, token)).headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } }),
    })
    const signal = await waitUntil(() => echo.controls.signals[0])
    controller.abort()
    await expect(gone).rejects.toThrow()
    await waitUntil(() => signal.aborted)
  })

  test('is limited to the size of its operation', async () => {
    const { port } = await serveTools()
    const write = (length: number) => callTool(port, 'write', { id: 'x', text: 'x'.repeat(length) }, { token })
    expect(parseProblem(await write(10_000))).toMatchObject({ code: 'too_large', status: 413 })
    expect(await write(8_000)).not.toHaveProperty('isError')
    const answer = await sendMcpRequest(
      port,
      'tools/call',
      { name: 'any', arguments: { a: 'x'.repeat(1_048_576) } },
      { token },
    )
    expect(answer.status).toBe(413)
  })

  test('is limited to the values of its operation, whatever another tool takes', async () => {
    const { port } = await serveTools()
    const call = (name: string, values: number) => callTool(port, name, { list: Array(values).fill(0) }, { token })
    expect(parseProblem(await call('any', 10_000))).toMatchObject({ code: 'too_large', status: 413 })
    expect(await call('any', 9_000)).not.toHaveProperty('isError')
    expect(await call('many', 10_000)).not.toHaveProperty('isError')
  })

  test('that fails or is refused says so in a problem document, and nothing of the inside', async () => {
    const { port } = await serveTools()
    const broken = await callTool(port, 'broken', {}, { token })
    expect(parseProblem(broken)).toMatchObject({ code: 'internal', status: 500 })
    expect(JSON.stringify(broken)).not.toContain('/secret/')
    expect(parseProblem(await callTool(port, 'busy', {}, { token }))).toMatchObject({ code: 'rate_limited' })
    expect(parseProblem(await callTool(port, 'down', {}, { token }))).toMatchObject({ code: 'unavailable' })
  })

  test('that answers with text, or with nothing, gives that', async () => {
    const { port } = await serveTools()
    expect(await callTool(port, 'text', {}, { token })).toEqual(
      expect.objectContaining({ content: [{ type: 'text', text: 'héllo' }] }),
    )
    expect(await callTool(port, 'remove', { id: 'x' }, { token })).toEqual(expect.objectContaining({ content: [] }))
  })

  test('takes conditions, keys and traces as headers, or in its own _meta', async () => {
    const { port } = await serveTools()
    const preconditions = { 'idempotency-key': 'k-1', 'if-match': '"3"' }
    const meta = Object.fromEntries(Object.entries(preconditions).map(([name, value]) => [`platform/${name}`, value]))
    for (const options of [{ headers: preconditions }, { meta }]) {
      const { structuredContent } = await callTool(port, 'write', { id: 'x' }, { token, ...options })
      expect(structuredContent).toMatchObject({ key: 'k-1', if_match: 3 })
    }
    const bad = await callTool(port, 'write', { id: 'x' }, { token, meta: { 'platform/if-match': '3' } })
    expect(parseProblem(bad)).toMatchObject({ code: 'malformed' })
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${trace}-b7ad6b7169203331-01`
    for (const options of [{ headers: { traceparent } }, { meta: { traceparent } }]) {
      const answer = await sendMcpRequest(
        port,
        'tools/call',
        { name: 'read', arguments: { id: 'x' } },
        { token, ...options },
      )
      expect(answer.headers.traceparent).toMatch(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)`))
      expect(answer.text).toContain(trace)
    }
  })

  test.each(['traceparent', 'x-trace-id'])('has a trace where %s is required, in either place', async (header) => {
    const { port } = await serveTools({}, { trace_policy: { mode: 'require', header } })
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${trace}-b7ad6b7169203331-01`
    const read = { name: 'read', arguments: { id: 'x' } }
    for (const options of [{ headers: { [header]: traceparent } }, { meta: { traceparent } }]) {
      const answer = await sendMcpRequest(port, 'tools/call', read, { token, ...options })
      expect(answer.headers[header]).toMatch(new RegExp(`^00-${trace}-`))
      expect(answer.text).toContain(trace)
    }
    for (const meta of [{}, { traceparent: 'x' }, { traceparent: 7 }]) {
      const refused = await callTool(port, 'read', { id: 'x' }, { token, meta })
      expect(parseProblem(refused)).toMatchObject({ code: 'malformed', detail: expect.stringContaining(header) })
    }
    const both = { headers: { [header]: 'x' }, meta: { traceparent } }
    expect((await callTool(port, 'read', { id: 'x' }, { token, ...both })).isError).toBe(true)
    expect((await sendMcpRequest(port, 'tools/list', {}, { token })).status).toBe(200)
  })

  test('is counted as its operation, everything else as what it is', async () => {
    const { port, metrics } = await serveTools()
    await callTool(port, 'any', { a: 1 }, { token })
    await callTool(port, 'write', { id: 'x' }, { token })
    await callTool(port, 'write', { id: 'x' }, { token: 'bob.none' })
    await sendMcpRequest(port, 'tools/list', {}, { token })
    await sendMcpRequest(port, 'tools/call', { name: 'nothing' }, { token })
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
