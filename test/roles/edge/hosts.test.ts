// One edge before two sites, by host: each host has the services of its site, and nothing of the other one.
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as readJson } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EdgeSite, startEdgeSite } from './edge-site.ts'

const servers: Server[] = []
let bravo: EdgeSite
let alpha: EdgeSite

/** A service that answers with its own name, and what it has received. */
async function startNamed(name: string): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    const { host, authorization, 'x-forwarded-host': forwarded } = headers
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name, url, host, forwarded, hasToken: authorization !== undefined }))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  const own = {
    'intelligence-service': [await startNamed('alpha')],
    'public-proxy': [await startNamed('alpha-public')],
  }
  bravo = await startEdgeSite({
    name: 'bravo',
    backends: {
      'resolution-service': [await startNamed('bravo')],
      'public-proxy': [await startNamed('bravo-public')],
    },
  })
  const ingress = {
    backends: { ...own, bravo: [`http://127.0.0.1:${bravo.port}`], gone: ['http://127.0.0.1:1'] },
    hosts: { 'bravo.example': 'bravo', 'gone.example': 'gone' },
  }
  alpha = await startEdgeSite({ name: 'alpha', site: { ingress } })
})
afterAll(async () => {
  await alpha?.site.end()
  await bravo?.site.end()
  for (const server of servers) server.close()
})

/** `fetch` takes no other host than that of its URL. */
async function send(host: string, at: string): Promise<{ status: number | undefined; json: unknown }> {
  const headers = { host, authorization: 'Bearer token' }
  const request = get({ host: '127.0.0.1', port: alpha.port, path: at, headers })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, json: await readJson(answer) }
}

test.each(['bravo.example', 'BRAVO.example', 'bravo.example.', 'bravo.example:8443'])(
  'requests to %s reach the services of that site, and no others',
  async (host) => {
    const answer = await send(host, '/api/v1/lens?limit=1')
    expect(answer).toMatchObject({ status: 200, json: { name: 'bravo', url: '/api/v1/lens?limit=1', hasToken: true } })
    expect(answer.json).toMatchObject({ host, forwarded: host })
    // Of alpha, and not of bravo.
    expect(await send(host, '/api/v1/signal')).toMatchObject({ status: 503, json: { code: 'no_backend' } })
    expect(await send(host, '/elsewhere')).toMatchObject({ status: 404 })
  },
)

test('every other host has those of the site itself', async () => {
  for (const host of ['alpha.example', '127.0.0.1', 'a.bravo.example', 'bravo.example.org']) {
    expect(await send(host, '/api/v1/signal')).toMatchObject({ status: 200, json: { name: 'alpha' } })
    expect(await send(host, '/api/v1/lens')).toMatchObject({ status: 503, json: { code: 'no_backend' } })
  }
})

test('the public prefix of each host is that of its site', async () => {
  const expected = { 'alpha.example': 'alpha-public', 'bravo.example': 'bravo-public' }
  for (const [host, name] of Object.entries(expected))
    expect(await send(host, '/public-api/api/v1/report')).toMatchObject({ json: { name } })
})

test('a site that is away takes nothing of the others with it', async () => {
  expect((await send('gone.example', '/api/v1/lens')).status).toBeGreaterThanOrEqual(502)
  expect((await send('bravo.example', '/api/v1/lens')).status).toBe(200)
  expect((await send('alpha.example', '/api/v1/signal')).status).toBe(200)
})
