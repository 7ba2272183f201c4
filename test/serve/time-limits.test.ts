// Time limits of operations: each ends at its own, and a long one takes nothing that other requests need.
import { describe, expect, test } from 'vitest'
import { adminHeaders, type EchoServer, startEchoServer } from '../support/echo/echo-server.ts'
import { callTool } from '../support/mcp/mcp-client.ts'
import { serveTools } from '../support/mcp/serve-tools.ts'

const carolHeaders = { authorization: 'Bearer carol.admin' }
const code = ({ body }: { body: string }) => JSON.parse(body).code
const waitForCalls = ({ echo }: Pick<EchoServer, 'echo'>, count: number) =>
  expect.poll(() => echo.controls.signals.length).toBe(count)

describe('a request', () => {
  test('may last as long as its operation says, while later ones end at their own limits', async () => {
    const world = await startEchoServer({ limits: { request_ms: 60 } })
    const long = world.request('POST /study', adminHeaders)
    await waitForCalls(world, 1)
    expect(code(await world.request('POST /wait'))).toBe('timeout')
    expect(world.echo.controls.signals.map(({ aborted }) => aborted)).toEqual([false, true])
    world.echo.controls.release()
    expect((await long).status).toBe(200)
  })

  test('of a short operation ends before others', async () => {
    const world = await startEchoServer()
    const usual = world.request('POST /wait')
    await waitForCalls(world, 1)
    expect(code(await world.request('POST /glance'))).toBe('timeout')
    expect(world.echo.controls.signals.map(({ aborted }) => aborted)).toEqual([false, true])
    world.echo.controls.release()
    expect((await usual).status).toBe(200)
  })
})

describe('long requests', () => {
  const limits = { long_requests: 3, long_requests_per_caller: 2 }

  test('have a share of their own: of a caller, and of all', async () => {
    const world = await startEchoServer({ limits: { ...limits, in_flight: 1 } })
    const own = [1, 2].map(() => world.request('POST /study', adminHeaders))
    await waitForCalls(world, 2)
    const third = await world.request('POST /study', adminHeaders)
    expect([third.status, JSON.parse(third.body).detail]).toEqual([
      429,
      'this caller has 2 long requests in progress, which is the most',
    ])
    const other = world.request('POST /study', carolHeaders)
    await waitForCalls(world, 3)
    const fourth = await world.request('POST /study', carolHeaders)
    expect([fourth.status, fourth.headers['retry-after']]).toEqual([503, '5'])
    expect((await world.request('GET /echo/x', adminHeaders)).status).toBe(200)
    for (let count = 0; count < 3; count++) world.echo.controls.release()
    expect((await Promise.all([...own, other])).map(({ status }) => status)).toEqual([200, 200, 200])
    const next = world.request('POST /study', carolHeaders)
    await waitForCalls(world, 4)
    world.echo.controls.release()
    expect((await next).status).toBe(200)
  })

  test('of one address leave the rest to others', async () => {
    const world = await startEchoServer({ limits: { long_requests_per_source: 1 } })
    const first = world.request('POST /study', adminHeaders)
    await waitForCalls(world, 1)
    expect((await world.request('POST /study', carolHeaders)).status).toBe(429)
    world.echo.controls.release()
    expect((await first).status).toBe(200)
  })

  test('through a surface have the same limit and share, and leave those of the surface', async () => {
    const world = await serveTools({ request_ms: 1_000, in_flight_per_caller: 1, long_requests_per_caller: 1 })
    const { port } = world
    const call = (name: string) => callTool(port, name, {}, { token: 'alice.admin' })
    // The first request loads the protocol.
    await call('any')
    const long = call('study')
    await waitForCalls(world, 1)
    expect(JSON.stringify(await call('study'))).toContain('long requests in progress')
    expect(JSON.stringify(await call('wait'))).toContain('timeout')
    world.echo.controls.release()
    expect(await long).toMatchObject({ structuredContent: { waited: true } })
  })

  test('of a caller without the permission take no share', async () => {
    const world = await startEchoServer({ limits: { long_requests: 1 } })
    expect((await world.request('POST /study')).status).toBe(401)
    const first = world.request('POST /study', adminHeaders)
    await waitForCalls(world, 1)
    world.echo.controls.release()
    expect((await first).status).toBe(200)
  })
})
