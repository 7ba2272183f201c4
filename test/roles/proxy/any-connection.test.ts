// Any bytes on real connections: what reaches the upstream is always one sound, listed request; each request has one answer and one record.
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { normaliseTarget } from '../../../daemon/kernel/forward/normal-target.ts'
import { parseIp } from '../../../daemon/kernel/network/ip-address.ts'
import { reasons } from '../../../daemon/roles/proxy/reasons.ts'
import { corpusAllowlist } from '../../support/proxy/corpus-row.ts'
import { type HostileTransmission, hostileTransmissions } from '../../support/proxy/hostile-bytes.ts'
import {
  type ProxyThreadReport,
  proxyThreadToken,
  startProxyThread,
  type TestProxyThread,
} from '../../support/proxy/proxy-thread.ts'
import { readUntilClose } from '../../support/proxy/read-until-close.ts'
import { type ForwardedRequest, listFieldValues } from '../../support/proxy/recording-upstream.ts'

/** FAST_CHECK_SEED and FAST_CHECK_RUNS go further than each check of the project does. */
const seed = Number(process.env.FAST_CHECK_SEED ?? 20_260_101)
const connections = Number(process.env.FAST_CHECK_RUNS ?? 800)
const at_once = 80

let thread: TestProxyThread
afterEach(() => thread?.remove())

const marker =
  'OPTIONS /public-api/api/v1/report HTTP/1.1\r\nHost: a\r\nAccess-Control-Request-Headers: last-word\r\n\r\n'

/** All bytes that came back, once the proxy has closed or has answered the last request. */
function exchangeBytes(port: number, { bytes, cuts }: HostileTransmission): Promise<string> {
  const pieces = [...cuts, bytes.length].map((end, at, all) => bytes.slice(all[at - 1] ?? 0, end))
  return readUntilClose(port, [...pieces, marker], (text) => text.includes('access-control-allow-headers: last-word'))
}

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status))

/** Statuses of docs/proxy.md with a sound upstream, a provider and counters; 502 and 503 would be faults of the proxy itself. */
const possibleStatuses = new Set([200, 204, 400, 404, 408, 413, 417, 431, 501, 505])

const forwardableHeaders = new Set([
  ...['accept', 'accept-language', 'accept-encoding', 'content-type', 'content-language', 'content-encoding', 'range'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'traceparent'],
  ...['host', 'authorization', 'x-forwarded-for', 'content-length'],
])

function findRequestFaults(request: ForwardedRequest, upstream: number): string[] {
  const { method, target, fields, oddities } = request
  const path = target.split('?', 1)[0] ?? ''
  const listed = method === 'POST' ? /^\/api\/v1\/feedback$/ : /^\/api\/v1\/report(\/[^/]+)?$/
  const normal = normaliseTarget(target, 0)
  const once = fields.map(([name]) => name)
  return [
    ...oddities,
    ...(['GET', 'POST'].includes(method) && listed.test(path) ? [] : ['not listed']),
    ...('path' in normal && normal.path === path ? [] : ['not in its normal form']),
    ...once.filter((name) => !forwardableHeaders.has(name)).map((name) => `${name} went on`),
    ...(new Set(once).size === once.length ? [] : ['a field twice']),
    ...(listFieldValues(request, 'host')[0] === `127.0.0.1:${upstream}` ? [] : ['another host']),
    ...(listFieldValues(request, 'authorization')[0] === `Bearer ${proxyThreadToken}` ? [] : ['another token']),
    ...(parseIp(listFieldValues(request, 'x-forwarded-for')[0] ?? '') ? [] : ['no source']),
    ...(method === 'POST' || request.body === '' ? [] : ['a body with GET']),
  ]
}

const sortTexts = (all: readonly string[]) => all.toSorted()

/** Records, answers and requests at the upstream must agree. */
function expectConsistent(
  { records, unrouted, healthResponses, logged }: ProxyThreadReport,
  answers: readonly number[],
  reached: readonly ForwardedRequest[],
) {
  const forwarded = records
    .filter(({ reason }) => reason === 'forwarded')
    .map(({ method, path }) => `${method} ${path}`)
  const arrived = reached.map(({ method, target }) => `${method} ${target.split('?', 1)[0]}`)
  // No client has left: a request recorded as gone would be one that the proxy itself dropped.
  expect(records.filter(({ status }) => status === 0)).toEqual([])
  expect(sortTexts(arrived)).toEqual(sortTexts(forwarded))
  const { malformed = 0, head_too_large = 0, too_slow = 0 } = unrouted
  expect(answers.length).toBe(records.length + healthResponses + malformed + head_too_large + too_slow)
  for (const { reason, status } of records) {
    const fixed = reasons[reason as keyof typeof reasons].status
    if (fixed !== null && reason !== 'malformed') expect([reason, status]).toEqual([reason, fixed])
  }
  expect(logged.filter((line) => line.includes('proxy.request.failed'))).toEqual([])
  expect(JSON.stringify([records, logged])).not.toContain(proxyThreadToken)
}

test(`with random requests, by seed ${seed}`, async () => {
  thread = await startProxyThread({
    ...{ allowlist: corpusAllowlist, header_timeout_s: 1, body_timeout_s: 1, keep_alive_s: 1 },
  })
  const { port, upstream } = thread
  const answers: number[] = []
  const wrong: string[] = []
  const all = fc.sample(hostileTransmissions, { seed, numRuns: connections })
  for (let from = 0; from < all.length; from += at_once) {
    const some = all.slice(from, from + at_once)
    for (const [at, text] of (await Promise.all(some.map((each) => exchangeBytes(port, each)))).entries()) {
      const statuses = statusesIn(text)
      const odd = statuses.filter((status) => !possibleStatuses.has(status))
      if (odd.length > 0 || text.includes(proxyThreadToken)) wrong.push(`${odd} to ${JSON.stringify(some[at]?.bytes)}`)
      answers.push(...statuses)
    }
  }
  const left = await thread.end()
  expect(wrong).toEqual([])
  const odd = upstream.requests.flatMap((request) => {
    const why = findRequestFaults(request, upstream.port)
    return why.length > 0 ? [[request.head, ...why]] : []
  })
  expect(odd).toEqual([])
  expect(upstream.listLeftovers()).toEqual([])
  expect(upstream.requests.length).toBeGreaterThan(connections / 50)
  expectConsistent(left, answers, upstream.requests)
})
