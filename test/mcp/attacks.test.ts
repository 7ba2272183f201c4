// Thinks as those at the boundary of /agentspace: pages that rebind names, thieves of sessions, senders of odd bytes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectProblem } from '../support/every-operation/expect-problem.ts'
import { type ExactResponse, sendExactRequest } from '../support/http/send-exact-request.ts'
import { callTool, type McpRequestOptions, openMcpSession, postMcp, sendMcpRequest } from '../support/mcp/mcp-client.ts'
import { type SingleClusterSite, startSingleClusterSite } from '../support/site/single-cluster-site.ts'

let site: SingleClusterSite
let token: string
let port: number
beforeAll(async () => {
  site = await startSingleClusterSite({
    platform: { roles: ['site', 'consensus', 'intelligence'] },
    intelligence: { port: 0 },
    consensus: {
      port: 0,
      domain: 'consensus.example',
      mcp_hosts: ['tools.example'],
      mcp_origins: ['https://console.example'],
    },
  })
  token = await site.token({ roles: ['admin'] })
  port = site.port('consensus')
})
afterAll(() => site?.close())

const create = {
  name: 'consensus_session_create',
  arguments: { lens_id: 'l', lens_version: '1', policy: { m: 1, n: 1 }, classification: 'UNCLASSIFIED' },
}
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const listSessions = async () =>
  ((await callTool(port, 'consensus_session_list', {}, { token })).structuredContent as { items: unknown[] }).items
    .length

/** The code of a JSON-RPC error that came instead of an answer. */
function expectRpcError({ status, json, headers }: ExactResponse, expected: number): number {
  expect(status).toBe(expected)
  expect(headers['content-type']).toBe('application/json')
  expect(json).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } })
  return (json as { error: { code: number } }).error.code
}

describe('a page in a browser', () => {
  const foreign: [string, McpRequestOptions['headers']][] = [
    ['that rebound its name', { host: 'evil.example' }],
    ['that rebound its name, and asks as itself', { host: 'evil.example', origin: 'http://evil.example' }],
    ['of another site', { origin: 'https://evil.example' }],
    ['of another port', { origin: 'http://127.0.0.1:1' }],
    ['without an origin', { origin: 'null' }],
    ['of a host whose name begins as ours', { host: 'tools.example.evil.example' }],
  ]

  test.each(foreign)('%s is refused, with a token and without', async (_, headers) => {
    const before = await listSessions()
    for (const options of [{ token, headers }, { headers }]) {
      expectProblem(await sendMcpRequest(port, 'tools/call', create, options as McpRequestOptions), [403])
      expectProblem(await postMcp(port, list, options as McpRequestOptions), [403])
    }
    for (const [method, path] of [
      ['DELETE', '/agentspace'],
      ['GET', '/.well-known/oauth-protected-resource'],
    ] as const) {
      expectProblem(
        await sendExactRequest({ port, method, path, token, headers: headers as Record<string, string> }),
        [403],
      )
    }
    expect(await listSessions()).toBe(before)
  })

  test('of a listed origin, or that names a listed host or the domain of the role, may ask', async () => {
    for (const headers of [
      { origin: 'https://console.example' },
      { host: 'tools.example', origin: 'https://tools.example' },
      { host: 'consensus.example' },
    ]) {
      expect((await sendMcpRequest(port, 'tools/list', {}, { token, headers })).status).toBe(200)
    }
  })

  test('that names the documented host of a cluster reaches the role that it leads to, and no other', async () => {
    const intelligence = site.port('intelligence')
    for (const host of ['agentspace.cluster.local', 'agentspace.cluster.local:80', 'AGENTSPACE.cluster.local']) {
      const headers = { host }
      expect((await sendMcpRequest(intelligence, 'tools/list', {}, { token, headers })).status).toBe(200)
      expectProblem(await sendMcpRequest(port, 'tools/list', {}, { token, headers }), [403])
    }
    for (const host of ['agentspace.cluster.local.evil.example', 'cluster.local', 'x.agentspace.cluster.local'])
      expectProblem(await sendMcpRequest(intelligence, 'tools/list', {}, { token, headers: { host } }), [403])
  })

  test('finds no word that would let it read answers, or ask beforehand', async () => {
    const headers = { origin: 'https://console.example', 'access-control-request-method': 'POST' }
    const preflight = await sendExactRequest({ port, method: 'OPTIONS', path: '/agentspace', headers })
    expectProblem(preflight, [405])
    for (const { headers: answered } of [preflight, await sendMcpRequest(port, 'tools/list', {}, { token, headers })]) {
      expect(Object.keys(answered).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

describe('a session', () => {
  test.each(['2025-06-18', '2025-11-25'])('of %s is its caller’s alone', async (revision) => {
    const { headers, answer } = await openMcpSession(port, token, revision)
    expect(answer.json).toMatchObject({ result: { protocolVersion: revision } })
    for (const thief of [{ sub: 'eve' }, { tenant_id: 'bravo' }]) {
      const stolen = await site.token({ roles: ['admin'], ...thief })
      expect(expectRpcError(await postMcp(port, list, { token: stolen, headers }), 404)).toBe(-32_001)
      const ended = await sendExactRequest({ port, method: 'DELETE', path: '/agentspace', token: stolen, headers })
      expect(expectRpcError(ended, 404)).toBe(-32_001)
    }
    expectProblem(await postMcp(port, list, { headers }), [401])
    expect((await postMcp(port, list, { token, headers })).status).toBe(200)
    expect((await sendExactRequest({ port, method: 'DELETE', path: '/agentspace', token, headers })).status).toBe(204)
    expect(expectRpcError(await postMcp(port, list, { token, headers }), 404)).toBe(-32_001)
  })

  test('gives nobody what the own token does not', async () => {
    const { headers } = await openMcpSession(port, token)
    const weak = await site.token({ roles: ['auditor'] })
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: create }
    const { json } = await postMcp(port, body, { token: weak, headers })
    expect(JSON.stringify(json)).toContain('urn:platform:problem:forbidden')
  })

  test('is needed, must be known, and keeps to its revision', async () => {
    const { headers } = await openMcpSession(port, token)
    expect(expectRpcError(await postMcp(port, list, { token }), 400)).toBe(-32_000)
    for (const id of ['x', '', '../..', 'f'.repeat(64), `${headers['mcp-session-id']}, x`]) {
      expect(expectRpcError(await postMcp(port, list, { token, headers: { 'mcp-session-id': id } }), 404)).toBe(-32_001)
    }
    for (const revision of ['2025-06-18', '2024-11-05', '2025-03-26']) {
      const changed = { ...headers, 'mcp-protocol-version': revision }
      expect(expectRpcError(await postMcp(port, list, { token, headers: changed }), 400)).toBe(-32_000)
    }
    expect(expectRpcError(await sendExactRequest({ port, method: 'DELETE', path: '/agentspace', token }), 400)).toBe(
      -32_000,
    )
  })

  test('is not made where the revision has none, or the handshake is not one', async () => {
    expect((await sendMcpRequest(port, 'tools/list', {}, { token })).headers).not.toHaveProperty('mcp-session-id')
    for (const params of [{}, { protocolVersion: 7 }, undefined]) {
      const { headers } = await postMcp(port, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, { token })
      expect(headers).not.toHaveProperty('mcp-session-id')
    }
  })

  test('answers a request of an unknown revision in the newest one', async () => {
    for (const version of ['2024-11-05', '2026-07-28', '2099-01-01']) {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
      const { json } = await postMcp(port, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, { token })
      expect(json).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
    }
  })

  test('of a caller with too many ends the one not used for longest', async () => {
    const crowd = await site.token({ sub: 'crowd', roles: ['admin'] })
    const opened = []
    for (let at = 0; at < 17; at++) opened.push(await openMcpSession(port, crowd))
    const statuses = await Promise.all(opened.map(({ headers }) => postMcp(port, list, { token: crowd, headers })))
    expect(statuses.map(({ status }) => status)).toEqual([404, ...Array(16).fill(200)])
  })
})

describe('bytes', () => {
  test.each<[string, string | Buffer]>([
    ['that are no JSON', '{"jsonrpc":'],
    ['nested too deep', `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'['.repeat(70)}${']'.repeat(70)}}`],
    ['that change a prototype', '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"__proto__":{}}}'],
    ['with half a surrogate pair', '{"jsonrpc":"2.0","id":1,"method":"tools/\\ud800"}'],
  ])('%s are refused', async (_, body) => {
    expect(expectProblem(await postMcp(port, String(body), { token }), [400]).code).toBe('malformed')
  })

  test.each<[string, unknown, number]>([
    ['nothing', '', -32_700],
    ['a batch', [list], -32_600],
    ['an empty batch', [], -32_600],
    ['a text', '"tools/list"', -32_600],
    ['a number', '7', -32_600],
    ['null', 'null', -32_600],
    ['another protocol', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32_600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32_600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32_600],
  ])('that say %s are refused', async (_, body, code) => {
    const { headers } = await openMcpSession(port, token)
    expect(expectRpcError(await postMcp(port, body, { token, headers }), 400)).toBe(code)
  })

  test('too many are not read, nor such of another type or in another coding', async () => {
    const big = { 'content-length': String(2_000_000) }
    expectProblem(
      await sendExactRequest({
        port,
        method: 'POST',
        path: '/agentspace',
        token,
        announced_bytes: 2_000_000,
        headers: { ...big, 'content-type': 'application/json' },
      }),
      [413],
    )
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'gzip' }]) {
      expectProblem(await postMcp(port, list, { token, headers }), [415])
    }
    const { headers } = await openMcpSession(port, token)
    expectRpcError(await postMcp(port, list, { token, headers: { ...headers, accept: 'application/json' } }), 406)
  })
})

describe('a message', () => {
  test('of a method or a tool that is not there changes nothing', async () => {
    for (const method of [
      'resources/list',
      'prompts/list',
      'completion/complete',
      'logging/setLevel',
      '__proto__',
      '',
    ]) {
      expect((await sendMcpRequest(port, method, {}, { token })).json).toMatchObject({ error: { code: -32_601 } })
    }
    for (const name of [
      '__proto__',
      'constructor',
      'consensus.session.create',
      'consensus_federation_contribute',
      '',
    ]) {
      const { json } = await sendMcpRequest(port, 'tools/call', { name, arguments: {} }, { token })
      expect(json, name).toMatchObject({ error: { code: -32_602 } })
    }
  })

  test('refuses a request whose headers contradict its body', async () => {
    const headers = { 'mcp-name': 'consensus_session_list' }
    expect((await sendMcpRequest(port, 'tools/call', create, { token, headers })).json).toMatchObject({
      error: { code: -32_020 },
    })
    const wrong = await sendMcpRequest(port, 'tools/call', create, { token, headers: { 'mcp-method': 'tools/list' } })
    expect(wrong.json).toMatchObject({ error: { code: -32_020 } })
  })

  test('with its token in the address, or with that of nobody, is a stranger’s', async () => {
    const sent = { port, method: 'POST', path: `/agentspace?access_token=${token}`, body: list }
    expectProblem(await sendExactRequest(sent), [401])
    const rolesOwn = await site.token({ sub: 'ada', tenant_id: '*', roles: ['admin'] })
    expectProblem(await postMcp(port, list, { token: rolesOwn }), [403])
  })

  test('waits for nothing: a subscription to what never changes ends at once', async () => {
    const answer = await sendMcpRequest(
      port,
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { token },
    )
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/event-stream')
  })
})

test('other paths and methods are as they were, and no secret was logged', async () => {
  const streamless = await sendExactRequest({ port, method: 'GET', path: '/agentspace', token })
  expect(streamless).toMatchObject({ status: 405, headers: { allow: 'DELETE, POST' } })
  expectProblem(await sendExactRequest({ port, method: 'PUT', path: '/agentspace', token, body: {} }), [405])
  expectProblem(await sendExactRequest({ port, method: 'POST', path: '/agentspace/', token, body: {} }), [404])
  expectProblem(
    await sendExactRequest({ port: site.port('site'), method: 'POST', path: '/agentspace', token, body: {} }),
    [404],
  )
  const secrets = site.logged.filter((line) => line.includes(token) || line.includes('eyJ'))
  expect(secrets).toEqual([])
})
