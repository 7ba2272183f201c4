// Requests of a client and their answers, over a real socket: paths, methods, tokens, bodies, headers.
import { describe, expect, test } from 'vitest'
import { problem } from '../../daemon/kernel/error/problem.ts'
import type { TracePolicy } from '../../daemon/kernel/telemetry/trace-policy.ts'
import {
  adminHeaders,
  type EchoServer,
  jsonHeaders,
  startEchoServer,
  unprivilegedHeaders,
} from '../support/echo/echo-server.ts'
import type { RawHttpResponse } from '../support/http/send-raw-http.ts'

/** Every refusal has this form. */
function expectProblem(answer: RawHttpResponse, status: number, code: string) {
  expect(answer.headers['content-type']).toBe('application/problem+json')
  const body = problem.parse(JSON.parse(answer.body))
  expect({ status: answer.status, of: body.status, code: body.code }).toEqual({ status, of: status, code })
  expect(body.instance).toMatch(/^[0-9a-f]{32}$/)
  expect(answer.text).not.toMatch(/fastify|node|\.ts:|\/secret\/|stack/i)
  expect(answer.headers).not.toHaveProperty('server')
  expect(answer.headers['cache-control']).toBe('no-store')
  expect(answer.headers['x-content-type-options']).toBe('nosniff')
  return body
}

describe('routes', () => {
  test('an operation answers JSON, at its path and at each other path', async () => {
    const { request } = await startEchoServer()
    for (const path of ['/echo/x%2Fy', '/also/x%2Fy/echo']) {
      const answer = await request(`GET ${path}?limit=3`, {
        ...adminHeaders,
        accept: 'text/html;q=0.5, application/json, */*;q=0',
      })
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        etag: '"7"',
        'cache-control': 'no-store',
      })
      expect(JSON.parse(answer.body)).toMatchObject({ id: 'x/y', limit: 3, accepts: ['application/json', 'text/html'] })
    }
  })

  test('HEAD answers the head of GET, without a body', async () => {
    const { request } = await startEchoServer()
    const get = await request('GET /echo/x', adminHeaders)
    const head = await request('HEAD /echo/x', adminHeaders)
    expect(head.status).toBe(200)
    expect(head.body).toBe('')
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
    expect(head.headers.etag).toBe('"7"')
    expect((await request('HEAD /stream')).headers['content-type']).toBe('text/event-stream')
  })

  test('204 has no body and no content type', async () => {
    const { request } = await startEchoServer()
    const answer = await request('DELETE /echo/x', adminHeaders)
    expect(answer).toMatchObject({ status: 204, body: '' })
    expect(answer.headers).not.toHaveProperty('content-type')
  })

  test('another representation comes as it is, with its own headers', async () => {
    const { request } = await startEchoServer()
    const answer = await request('GET /text')
    expect(answer).toMatchObject({ status: 200, body: 'héllo' })
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-extra': 'yes',
      'content-length': '6',
    })
  })

  test.each(['/', '/nothing', '/echo', '/echo/', '/echo/x/', '//echo/x', '/ECHO/x', `/echo/${'x'.repeat(600)}`])(
    'the path %s is not found',
    async (path) => {
      const { request } = await startEchoServer()
      expectProblem(await request(`GET ${path}`, adminHeaders), 404, 'not_found')
    },
  )

  test('a path that is not well encoded is malformed', async () => {
    const { request } = await startEchoServer()
    expectProblem(await request('GET /echo/%E0%A4%A', adminHeaders), 400, 'malformed')
  })

  test.each(['PUT', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE'])(
    'refuses %s, and Allow lists the allowed methods',
    async (method) => {
      const { request } = await startEchoServer()
      const answer = await request(`${method} /echo/x`, adminHeaders)
      expectProblem(answer, 405, 'method_not_allowed')
      expect(answer.headers.allow).toBe('DELETE, GET, HEAD, PATCH, POST')
    },
  )

  test('a restricted listener leaves out what belongs inside', async () => {
    const { request } = await startEchoServer({ restricted: true })
    expectProblem(await request('GET /text'), 404, 'not_found')
    expect((await request('GET /open')).status).toBe(200)
  })
})

describe('the caller', () => {
  test.each([
    ['none', undefined, 'Bearer realm="platform"'],
    ['another scheme', 'Basic YTpi', 'Bearer realm="platform"'],
    ['not valid', 'Bearer nonsense', 'Bearer realm="platform", error="invalid_token"'],
    ['not well formed', 'Bearer a b', 'Bearer realm="platform", error="invalid_token"'],
    ['empty', 'Bearer', 'Bearer realm="platform", error="invalid_token"'],
  ])('a token that is %s is refused with 401', async (_what, authorization, challenge) => {
    const { request } = await startEchoServer()
    const answer = await request('GET /echo/x', authorization === undefined ? {} : { authorization })
    expectProblem(answer, 401, 'unauthenticated')
    expect(answer.headers['www-authenticate']).toBe(challenge)
  })

  test('two Authorization headers are none at all', async () => {
    const { request } = await startEchoServer()
    const answer = await request('GET /echo/x', {
      Authorization: 'Bearer alice.admin',
      AUTHORIZATION: 'Bearer bob.none',
    })
    expectProblem(answer, 401, 'unauthenticated')
  })

  test('the scheme may be written in any case', async () => {
    const { request } = await startEchoServer()
    expect((await request('GET /echo/x', { authorization: 'bEaReR alice.admin' })).status).toBe(200)
  })

  test('a caller without the permission is refused with 403', async () => {
    const { request } = await startEchoServer()
    expectProblem(await request('POST /echo/x', { ...unprivilegedHeaders, ...jsonHeaders }, '{}'), 403, 'forbidden')
    expect((await request('POST /echo/x', { authorization: 'Bearer eve.echoer', ...jsonHeaders }, '{}')).status).toBe(
      201,
    )
  })

  test('a public operation knows a caller who shows a token, and takes one who does not', async () => {
    const { request } = await startEchoServer()
    expect(JSON.parse((await request('GET /open')).body)).toEqual({ subject: 'anonymous' })
    expect(JSON.parse((await request('GET /open', adminHeaders)).body)).toEqual({ subject: 'alice', ...adminHeaders })
  })

  test('a token that has admitted its caller goes no further', async () => {
    const { request } = await startEchoServer()
    expect(JSON.parse((await request('GET /echo/x', adminHeaders)).body)).not.toHaveProperty('authorization')
    const basic = { authorization: 'Basic Y2xpZW50OnNlY3JldA==' }
    expect(JSON.parse((await request('GET /open', basic)).body)).toEqual({ subject: 'anonymous', ...basic })
  })

  test('a stranger is answered while the body has not even been sent', async () => {
    const { request } = await startEchoServer()
    const answer = await request('POST /echo/x', { ...jsonHeaders, 'content-length': '5000' })
    expectProblem(answer, 401, 'unauthenticated')
    expectProblem(
      await request('POST /echo/x', { ...jsonHeaders, 'content-length': '99000000' }),
      401,
      'unauthenticated',
    )
  })

  test('refuses a caller without permission before it reports faults of the body', async () => {
    const { request } = await startEchoServer()
    expectProblem(await request('POST /echo/x', { 'content-type': 'text/plain' }, '{broken'), 401, 'unauthenticated')
    expectProblem(
      await request('POST /echo/x', { ...unprivilegedHeaders, 'content-type': 'text/plain' }, '{broken'),
      403,
      'forbidden',
    )
  })
})

describe('failures', () => {
  test.each([
    ['/busy', 429, 'rate_limited', '17'],
    ['/down', 503, 'unavailable', '1'],
  ])('%s says when to try again', async (path, status, code, after) => {
    const { request } = await startEchoServer()
    const answer = await request(`GET ${path}`)
    expectProblem(answer, status, code)
    expect(answer.headers['retry-after']).toBe(after)
  })

  test('hides an internal error, which the log has under its trace id', async () => {
    const { request, echo } = await startEchoServer()
    const body = expectProblem(await request('GET /broken'), 500, 'internal')
    const lines = echo.controls.logged.filter(([level]) => level === 'error' || level === 'warn')
    expect(lines).toHaveLength(1)
    expect(lines[0]?.[2]).toMatchObject({ trace_id: body.instance, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
  })

  test('each answer of 500 or more makes one line, and no other makes any', async () => {
    const { request, echo } = await startEchoServer()
    for (const path of ['/down', '/busy', '/nothing', '/open']) await request(`GET ${path}`)
    const lines = echo.controls.logged.filter(([level]) => level !== 'debug')
    expect(lines.map(([level, event, fields]) => [level, event, fields?.code])).toEqual([
      ['warn', 'http.refused', 'unavailable'],
    ])
  })
})

describe('headers', () => {
  const write = async ({ request }: EchoServer, headers: Record<string, string>) =>
    request('POST /echo/x', { ...adminHeaders, ...jsonHeaders, ...headers }, '{}')

  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traceparent = `00-${trace}-00f067aa0ba902b7-01`
  const traceSeen = async (headers: Record<string, string>) => {
    const { request } = await startEchoServer()
    const answer = await request('GET /echo/x', { ...adminHeaders, ...headers })
    return { seen: JSON.parse(answer.body).trace, echoed: String(answer.headers.traceparent) }
  }

  test('a trace is joined, and the answer names a span of its own', async () => {
    const { seen, echoed } = await traceSeen({ traceparent, TraceState: 'rojo=1 , congo=2' })
    expect(seen).toMatchObject({ trace_id: trace, flags: '01', tracestate: 'rojo=1 , congo=2' })
    expect(echoed).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
    expect(echoed).toContain(seen.span_id)
    expect(echoed).not.toContain('00f067aa0ba902b7')
  })

  test('a trace that is none is replaced, and a state without a trace is dropped', async () => {
    for (const headers of [{}, { traceparent: traceparent.toUpperCase() }]) {
      const { seen, echoed } = await traceSeen({ ...headers, tracestate: 'rojo=1' })
      expect(seen).toMatchObject({ flags: '02', tracestate: '' })
      expect(seen.trace_id).not.toBe(trace)
      expect(echoed).toBe(`00-${seen.trace_id}-${seen.span_id}-02`)
    }
  })

  test('several fields of state are one, in order; of traceparent there is one or none', async () => {
    const state = 'rojo=1\r\ntracestate: \r\ntracestate: congo=2'
    const { seen } = await traceSeen({ traceparent, tracestate: state })
    expect(seen).toMatchObject({ trace_id: trace, tracestate: 'rojo=1, , congo=2' })
    const twice = await traceSeen({ traceparent: `${traceparent}\r\ntraceparent: ${traceparent}` })
    expect(twice.seen.trace_id).not.toBe(trace)
  })

  describe('by a policy that', () => {
    const bad = { traceparent: 'nonsense' }
    const readTrace = async (mode: TracePolicy['mode'], headers: Record<string, string>, line = 'GET /echo/x') => {
      const { request, echo } = await startEchoServer({ trace_policy: { mode, header: 'traceparent' } })
      const answer = await request(line, { ...adminHeaders, ...headers })
      const faults = echo.controls.logged.filter(([, event]) => event.endsWith('_traceparent'))
      return { answer, faults: faults.map(([level, event]) => `${level} ${event}`) }
    }

    test('adopts, a malformed trace is replaced and logged, without its text', async () => {
      const { request, echo } = await startEchoServer()
      for (const _ of [1, 2]) expect((await request('GET /echo/x', { ...adminHeaders, ...bad })).status).toBe(200)
      const lines = echo.controls.logged.filter(([, event]) => event === 'malformed_traceparent')
      expect(lines).toMatchObject([['warn', 'malformed_traceparent', { times: 1, mode: 'adopt' }]])
      expect(JSON.stringify(lines)).not.toContain('nonsense')
    })

    test('adopts, a missing trace is replaced', async () => {
      const { answer, faults } = await readTrace('adopt', {})
      expect([answer.status, faults]).toEqual([200, ['debug missing_traceparent']])
    })

    test('ignores, a valid trace is not continued and a malformed one not logged', async () => {
      for (const headers of [{ traceparent }, bad]) {
        const { answer, faults } = await readTrace('ignore', headers)
        expect([answer.status, faults]).toEqual([200, []])
        expect(answer.headers.traceparent).not.toContain(trace)
      }
    })

    test('requires, a request without a valid trace is refused, with the trace id of the refusal', async () => {
      const missing = await readTrace('require', {})
      expectProblem(missing.answer, 400, 'malformed')
      expect(missing.answer.body).toContain('the header traceparent is missing')
      expect(missing.answer.headers.traceparent).toMatch(/^00-/)
      const malformed = await readTrace('require', bad)
      expectProblem(malformed.answer, 400, 'malformed')
      expect(malformed.faults).toEqual(['warn malformed_traceparent'])
      expect((await readTrace('require', { traceparent })).answer.headers.traceparent).toContain(trace)
    })

    test('requires, a public operation needs no trace', async () => {
      expect((await readTrace('require', {}, 'GET /open')).answer.status).toBe(200)
    })

    test('names another header, the answer has it, too', async () => {
      const { request } = await startEchoServer({ trace_policy: { mode: 'require', header: 'x-trace' } })
      const answer = await request('GET /echo/x', { ...adminHeaders, 'X-Trace': traceparent })
      expect(answer.status).toBe(200)
      expect(answer.headers['x-trace']).toContain(trace)
    })
  })

  test('PATCH has a body and a version, and creates nothing', async () => {
    const { request } = await startEchoServer()
    const headers = { ...adminHeaders, ...jsonHeaders, 'if-match': '"12"', 'idempotency-key': 'k-1' }
    const edited = await request('PATCH /echo/x', headers, '{"text":"a"}')
    expect(edited).toMatchObject({ status: 200, body: '{"text":"a","id":"x","version":13}' })
    expect(edited.headers.etag).toBe('"13"')
    expectProblem(await request('PATCH /echo/x?text=a', headers, '{}'), 422, 'invalid')
    expectProblem(await request('PATCH /echo/x', headers, '[]'), 400, 'malformed')
    expectProblem(await request('PATCH /echo/x', { ...headers, 'if-match': '12' }, '{}'), 400, 'malformed')
    const merge = { ...headers, 'content-type': 'application/merge-patch+json' }
    const refused = await request('PATCH /echo/x', merge, '{}')
    expectProblem(refused, 415, 'unsupported_media_type')
    expect(refused.headers['accept-patch']).toBe('application/json')
    expectProblem(
      await request('PATCH /echo/x', { ...jsonHeaders, authorization: 'Bearer bob.none' }, '{}'),
      403,
      'forbidden',
    )
  })

  test('If-Match and Idempotency-Key reach the operation', async () => {
    const written = await write(await startEchoServer(), { 'if-match': '"12"', 'idempotency-key': 'k-1' })
    expect(JSON.parse(written.body)).toEqual({ id: 'x', if_match: 12, key: 'k-1' })
    const any = await write(await startEchoServer(), { 'if-match': '*' })
    expect(JSON.parse(any.body)).toEqual({ id: 'x' })
  })

  test.each([
    ['if-match', 'W/"1"', 400, 'malformed'],
    ['if-match', '"1", "2"', 400, 'malformed'],
    ['if-match', '1', 400, 'malformed'],
    ['if-match', '"99999999999999999999"', 400, 'malformed'],
    ['idempotency-key', '', 422, 'invalid'],
    ['idempotency-key', 'two words', 422, 'invalid'],
    ['idempotency-key', 'k'.repeat(256), 422, 'invalid'],
    ['last-event-id', '1'.repeat(65), 422, 'invalid'],
    ['content-encoding', 'gzip', 415, 'unsupported_media_type'],
  ])('%s: %s is refused', async (name, value, status, code) => {
    expectProblem(await write(await startEchoServer(), { [name]: value }), status, code)
  })

  test('requests are counted by operation and status, unknown paths as one', async () => {
    const { request, metrics } = await startEchoServer()
    await request('GET /echo/1', adminHeaders)
    await request('GET /echo/2', adminHeaders)
    await request('GET /echo/3')
    await request('GET /random-1')
    await request('GET /random-2')
    await expect.poll(() => metrics.text()).toContain('http_requests_total{operation="test.echo.read",status="200"} 2')
    const text = await metrics.text()
    expect(text).toContain('http_requests_total{operation="test.echo.read",status="401"} 1')
    expect(text).toContain('http_requests_total{operation="none",status="404"} 2')
    expect(text).toContain('http_request_seconds_count{operation="test.echo.read"} 3')
  })
})
