// By routing tables the edge, and nginx and Caddy that were configured from them, send each request to the service of its rule.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test as plainTest } from 'vitest'
import { normaliseTarget } from '../../../daemon/kernel/forward/normal-target.ts'
import { indexRoutes } from '../../../daemon/shared/routing/find-route.ts'
import { agentspace_host, routedServices } from '../../../daemon/shared/routing/routed-services.ts'
import { buildRoutingTable, defaultRouting, type RoutingRule } from '../../../daemon/shared/routing/routing-table.ts'
import {
  type BackendAnswer,
  exchangeParts,
  type NamedBackends,
  type ReceivedAnswer,
  type SentRequest,
  sendRequest,
  startNamedBackends,
} from '../../support/engines/named-backends.ts'
import { type RenderedProxy, startRenderedProxies } from '../../support/engines/rendered-proxies.ts'
import { startRoutedEdge } from '../../support/engines/routed-edge.ts'
import { findTools, whenPresent } from '../../support/runner/requires.ts'

const requirement = findTools('nginx', 'caddy')
const test = whenPresent(requirement, plainTest)

const names = [...routedServices.map(({ name }) => name as string), 'weather', 'harvest']
let backends: NamedBackends

beforeAll(async () => {
  backends = await startNamedBackends(names)
})
afterAll(() => backends.close())

const objects = fc.subarray(['forecast', 'signal', 'signal_bulk', 'x-1', 'api', 'chat', 'lens2'])

/** Tables as sites have them. */
const siteTable = fc
  .record({
    served: fc.subarray(names).map((served) => new Set(served)),
    registered: fc.tuple(objects, objects).map(([some, others]) => [
      { name: 'weather', objects: some },
      { name: 'harvest', objects: others },
    ]),
    hasRest: fc.constantFrom(true, true, true, true, false),
    isGatewayInPath: fc.boolean(),
    hasGatewayAgentspace: fc.boolean(),
    rest_priority: fc.constantFrom(5, 100, 300),
    objects: objects.map((own) => ({ 'alerting-service': own })),
    hosts: fc.constantFrom({}, { 'other.example': 'weather' }, { 'other.example': 'site-service' }),
  })
  .map((options) => buildRoutingTable({ ...defaultRouting, ...options }))

const segment = fc.constantFrom('a', 'A', 'ab', 'a.b', '.well-known', 'a-b', 'a_b', '~a')
const joined = (max: number) => fc.array(segment, { maxLength: max }).map((segments) => `/${segments.join('/')}`)

/** Tables of any shape: nested prefixes, hosts with few rules, several priorities. */
const anyTable = fc
  .array(
    fc.record({
      host: fc.constantFrom(undefined, undefined, agentspace_host, 'other.example'),
      prefix: joined(3),
      priority: fc.constantFrom(10, 100, 200),
      service: fc.constantFrom(...names),
      isServed: fc.constant(true),
    }),
    { minLength: 5, maxLength: 40 },
  )
  .map((rules) => {
    const absent = rules[0]?.service
    const unique = new Map(rules.map((rule) => [JSON.stringify([rule.host, rule.prefix, rule.priority]), rule]))
    return [...unique.values()].map(
      (rule): RoutingRule => ({ ...rule, ingress: rule.service, isServed: rule.service !== absent }),
    )
  })

const hosts = [
  'site.example',
  agentspace_host,
  'Agentspace.Cluster.LOCAL',
  `${agentspace_host}.`,
  'other.example',
  '127.0.0.1',
]

/** Another form of the same path. */
const escapeLetter = (path: string) =>
  path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

/** Paths at, above, below and beside the prefixes of a table; some ambiguous. */
const requestFor = (rules: readonly RoutingRule[]): fc.Arbitrary<SentRequest> =>
  fc
    .tuple(
      fc.oneof(fc.constantFrom(...rules.map(({ prefix }) => prefix), '/'), joined(4)),
      fc.constantFrom(
        '',
        '',
        '/',
        '/7',
        '/a/b',
        '/%20x/%C3%A9',
        '/a%3Ab',
        '-b',
        's',
        '.',
        '%7Ea',
        '/api/v1',
        '/...',
        ';x',
        '/A',
      ),
      fc.constantFrom('', '', '?', '?a=//../%2F', '?/api/v1/signal'),
      fc.constantFrom(...hosts),
      fc.constantFrom('', ':8080'),
      fc.constantFrom(false, false, true),
    )
    .map(([prefix, suffix, query, host, port, hasEscape]) => {
      const before = prefix === '/' && suffix.startsWith('/') ? '' : prefix
      const target = `${hasEscape ? escapeLetter(before) : before}${suffix}${query}`
      return { target, headers: { host: `${host}${port}` } }
    })

/** Name of the service, or code of the problem. */
function readAnswer({ type, body }: ReceivedAnswer): string {
  const answer = JSON.parse(body) as { service?: string; code?: string; status?: number }
  return answer.service ?? `${answer.status} ${answer.code} ${type}`
}

function expectedAnswer(findRoute: ReturnType<typeof indexRoutes>, { target, headers }: SentRequest): string {
  const host = String(headers.host).toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
  const normal = normaliseTarget(target, 0)
  if ('denied' in normal) return '400 malformed application/problem+json'
  const rule = findRoute(host, normal.path)
  if (!rule) return '404 not_found application/problem+json'
  return rule.isServed ? rule.service : '503 no_backend application/problem+json'
}

async function withProxies(rules: readonly RoutingRule[], use: (proxies: readonly RenderedProxy[]) => Promise<void>) {
  const routes = { rules, backends: backends.urls }
  const proxies = [await startRoutedEdge(routes), ...(await startRenderedProxies(routes))]
  try {
    await use(proxies)
  } finally {
    for (const proxy of proxies) await proxy.end()
  }
}

const seed = 20_261_128
const tables = [
  ...fc.sample(siteTable, { seed, numRuns: 10 }).map((rules, at) => ({ name: `site ${at}`, rules, at })),
  ...fc.sample(anyTable, { seed, numRuns: 10 }).map((rules, at) => ({ name: `rules ${at}`, rules, at })),
]

test.each(tables)('$name: each request reaches the service of its rule', async ({ rules, at }) => {
  const findRoute = indexRoutes(rules)
  const requests = fc.sample(requestFor(rules), { seed: seed + at, numRuns: 60 })
  const expected = requests.map((sent) => [sent.target, sent.headers.host, expectedAnswer(findRoute, sent)])
  expect(new Set(expected.map(([, , answer]) => answer)).size).toBeGreaterThan(1)
  await withProxies(rules, async (proxies) => {
    for (const { name, port } of proxies) {
      const answers = await Promise.all(requests.map((sent) => sendRequest(port, sent)))
      const found = requests.map(({ target, headers }, at) => [
        target,
        headers.host,
        readAnswer(answers[at] as ReceivedAnswer),
      ])
      expect(found, name).toEqual(expected)
    }
  })
})

const everyTable = buildRoutingTable({ ...defaultRouting, served: new Set(names) })

test('a path with more than one meaning is refused, unless the edge forwards its normal form', async () => {
  const targets = [
    '//api/v1/signal',
    '/api/v1/../v2/audit',
    '/api%2Fv1/signal',
    '/api/v1/signal/%2e%2e/lens',
    '/api/v1/%5C',
    '/api/v1/a/..;/b',
    '/api/v1/%252F',
    '/api/./v1/signal',
  ]
  await withProxies(everyTable, async (proxies) => {
    for (const { name, port } of proxies) {
      for (const target of targets) {
        const { status } = await sendRequest(port, { target, headers: { host: 'site.example' } })
        const isNormal = name === 'edge' && !('denied' in normaliseTarget(target, 0))
        expect([name, target, status]).toEqual([name, target, isNormal ? 200 : 400])
      }
    }
  })
})

test('a service gets the target and the host as they were sent, and addresses of the proxy alone', async () => {
  const target = '/api/v1/signal/%20a%3ab%C3%A9?x=%2F&y=//'
  const forged = {
    forwarded: 'for=1.2.3.4',
    'x-forwarded-for': '1.2.3.4',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'forged',
    'client-cert': ':AA==:',
  }
  await withProxies(everyTable, async (proxies) => {
    for (const { name, port } of proxies) {
      const headers = { host: 'site.example:8080', connection: 'close', authorization: 'Bearer a', ...forged }
      const { body } = await sendRequest(port, { target, headers })
      const received = JSON.parse(body) as BackendAnswer
      expect(received.target, name).toBe(name === 'edge' ? target.replace('%3a', '%3A') : target)
      expect(received.headers, name).toMatchObject({
        host: 'site.example:8080',
        authorization: 'Bearer a',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'site.example:8080',
      })
      expect(Object.keys(received.headers), name).not.toEqual(expect.arrayContaining(['forwarded']))
      expect(Object.keys(received.headers), name).not.toEqual(expect.arrayContaining(['client-cert']))
    }
  })
})

test('bodies and answers stream, part by part in both directions', async () => {
  const parts = ['one', 'two', 'three']
  await withProxies(everyTable, async (proxies) => {
    for (const { name, port } of proxies)
      expect(await exchangeParts(port, '/api/v1/signal', parts), name).toEqual(parts)
  })
})

test('a WebSocket is upgraded, and nothing else', async () => {
  const handshake = { 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
  await withProxies(everyTable, async (proxies) => {
    for (const { name, port } of proxies) {
      const send = (upgrade: string) =>
        sendRequest(port, {
          target: '/api/v1/signal',
          headers: { host: 'a', connection: 'upgrade', upgrade, ...handshake },
        })
      expect(await send('websocket'), name).toMatchObject({ status: 101, body: 'intelligence-service' })
      const { status, body } = await send('h2c')
      expect([status, (JSON.parse(body) as BackendAnswer).headers.upgrade], name).toEqual([200, undefined])
    }
  })
})
