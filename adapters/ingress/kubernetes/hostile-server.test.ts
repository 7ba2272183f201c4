// A server that speaks the protocol of watches wrongly, or not at all: what is read is bounded and checked, and the gateway recovers.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { waitUntil } from '../../../test/support/site/test-site.ts'
import { KubernetesIngresses } from './kubernetes-ingresses.ts'

type Script = (request: IncomingMessage, response: ServerResponse, at: URL) => void
const secret = 'a-secret-token'
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(script: Script) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const at = new URL(request.url ?? '', 'http://server')
    const { searchParams } = at
    seen.push(searchParams.has('watch') ? `watch ${searchParams.get('resourceVersion')}` : `${request.method}`)
    script(request, response, at)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const causes: string[] = []
  const cluster = new KubernetesIngresses({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ namespace: 'platform', mark: { mark: 'own' } },
    readCredentials: async () => ({ ca: undefined, token: secret }),
    async parse(bytes) {
      try {
        return JSON.parse(bytes.toString())
      } catch {
        return undefined
      }
    },
    digest: () => 'digest',
    chance: () => 0,
    monotonic: () => performance.now(),
    onListed: ({ cause }) => void causes.push(cause),
  })
  open.push({
    async close() {
      await cluster.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
  cluster.start()
  return { cluster, seen, causes }
}

const ingress = (name: string, resourceVersion: string) => ({ metadata: { name, uid: 'u', resourceVersion }, spec: {} })
const page = (...items: unknown[]) => JSON.stringify({ metadata: { resourceVersion: '10' }, items })
const event = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
const isWatch = (at: URL) => at.searchParams.has('watch')

test.each<[string, string | Buffer, RegExp]>([
  ['something else than JSON', '<html>', /something else than sound JSON$/],
  ['another shape', '{"items":7}', /a list of ingresses that is wrong in metadata/],
  ['an ingress without a name', page({ metadata: { uid: 'u' } }), /wrong in items\.0\.metadata\.name/],
  ['more than the bound', Buffer.alloc(17_000_000, ' '), /did not answer \(too_large\)/],
])('a list of %s is a fault, and nothing is seen', async (_, body, reason) => {
  const { cluster } = await start((_request, response) => void response.end(body))
  const fault = await waitUntil(() => cluster.view().fault)
  expect(fault).toMatch(reason)
  expect(cluster.view().ingresses).toBeUndefined()
})

test('a refusal is shortened, and without the token', async () => {
  const { cluster } = await start((request, response) => {
    response.statusCode = 403
    response.end(
      JSON.stringify({ kind: 'Status', message: `no: ${'x'.repeat(5_000)}${request.headers.authorization}` }),
    )
  })
  const fault = await waitUntil(() => cluster.view().fault)
  expect(fault).toMatch(/^the API server answered 403: no: x+$/)
  expect(fault.length).toBeLessThan(400)
  expect(fault).not.toContain(secret)
})

test.each<[string, (response: ServerResponse) => void]>([
  ['as an event', (response) => void response.end(event('ERROR', { code: 410, message: 'too old' }))],
  ['as a status', (response) => void response.writeHead(410).end('{"message":"too old"}')],
])('410 %s: the ingresses are listed again, without a fault between', async (_, expire) => {
  let watches = 0
  const { cluster, seen, causes } = await start((_request, response, at) => {
    if (!isWatch(at)) return void response.end(page(ingress('one', '9')))
    watches += 1
    if (watches === 1) expire(response)
    else response.write(event('ADDED', ingress('two', '11')))
  })
  await waitUntil(() => cluster.view().ingresses?.has('two'))
  expect(seen).toEqual(['GET', 'watch 10', 'GET', 'watch 10'])
  expect(causes).toEqual(['start', 'expired'])
  expect(cluster.view().fault).toBeUndefined()
})

test('a connection that breaks: the watch goes on after the last version that was seen, of a bookmark too', async () => {
  let watches = 0
  const { cluster, seen, causes } = await start((_request, response, at) => {
    if (!isWatch(at)) return void response.end(page())
    watches += 1
    if (watches === 1) response.write(event('ADDED', ingress('one', '11')))
    if (watches === 1)
      response.write(event('BOOKMARK', { metadata: { resourceVersion: '15' } }), () => response.destroy())
    else response.write(event('DELETED', ingress('one', '16')))
  })
  await waitUntil(() => cluster.view().ingresses?.size === 0 && watches > 1)
  expect(seen).toEqual(['GET', 'watch 10', 'watch 15'])
  expect(causes).toEqual(['start'])
})

test.each<[string, string | Buffer]>([
  ['an event beyond the bound', Buffer.alloc(4_500_000, 'x')],
  ['an event of another shape', '{"type":"ADDED","object":{}}\n'],
  ['something else than JSON', 'hello\n'],
])('a watch with %s is a fault, after which the ingresses are listed again', async (_, sent) => {
  let watches = 0
  const { cluster, causes } = await start((_request, response, at) => {
    if (!isWatch(at)) return void response.end(page())
    watches += 1
    response.write(watches === 1 ? sent : event('ADDED', ingress('one', '11')))
  })
  await waitUntil(() => cluster.view().fault)
  await waitUntil(() => cluster.view().ingresses?.has('one'))
  expect(causes).toEqual(['start', 'broken'])
})

test('a server that ends each watch at once gets no loop of requests', async () => {
  const { cluster, seen } = await start((_request, response, at) => void response.end(isWatch(at) ? '' : page()))
  await waitUntil(() => cluster.view().fault === 'the API server ended a watch at once')
  expect(seen.length).toBeLessThan(8)
})

test('an answer to a write counts at once, and an older event of the watch does not undo it', async () => {
  let watch: ServerResponse | undefined
  const { cluster } = await start((request, response, at) => {
    if (request.method === 'POST') return void response.writeHead(201).end(JSON.stringify(ingress('one', '20')))
    if (!isWatch(at)) return void response.end(page())
    watch = response
    response.writeHead(200).flushHeaders()
  })
  const watching = await waitUntil(() => watch)
  const object = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'one', namespace: 'platform', labels: {} },
  }
  expect(await cluster.create(object, AbortSignal.timeout(5_000))).toEqual({ outcome: 'written' })
  expect(cluster.view().ingresses?.get('one')?.resource_version).toBe('20')
  watching.write(event('ADDED', ingress('one', '18')) + event('DELETED', ingress('one', '19')))
  watching.write(event('ADDED', ingress('two', '21')))
  await waitUntil(() => cluster.view().ingresses?.has('two'))
  expect(cluster.view().ingresses?.get('one')?.resource_version).toBe('20')
})
