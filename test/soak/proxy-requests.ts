// Requests of clients to a soaked proxy, and the allowed answers: during a death behind it, and once all is well.
import type { SeededRandom } from '../support/random/seeded-random.ts'

export type ProxyRequestKind = {
  /** Its share of all requests. */
  readonly weight: number
  readonly method: string
  /** After the prefix: as it is sent, and recorded. */
  readonly path: (number: number) => string
  /** It has no normal form, and is recorded with the prefix. */
  readonly isRaw?: true
  readonly headers?: string
  readonly body?: string
  /** Of the trusted hop; one of many when absent. */
  readonly source?: string
  /** While everything runs. */
  readonly healthyStatuses: readonly number[]
  /** Also while something is dead. */
  readonly degradedStatuses: readonly number[]
}

/** Requests of a source by the rule that has a limit. */
export const busy_limit = 50

export const proxyRules: readonly string[] = [
  'GET /api/v1/report/{id}',
  'GET /api/v1/large/{id}',
  'GET /api/v1/kept/{id} cache=1',
  `GET /api/v1/busy/{id} limit=${busy_limit}`,
  'POST /api/v1/feedback/{id}',
]

const body = 'x'.repeat(700)
/** The counter or the token is missing; the upstream is; it does not answer. */
const backendFailures = [503, 502, 504]
const buildPath = (path: string) => (number: number) => `/api/v1/${path}/${number}`

export const proxyRequestKinds = {
  report: {
    weight: 60,
    method: 'GET',
    path: buildPath('report'),
    healthyStatuses: [200],
    degradedStatuses: backendFailures,
  },
  kept: {
    weight: 10,
    method: 'GET',
    path: buildPath('kept'),
    healthyStatuses: [200],
    degradedStatuses: backendFailures,
  },
  large: {
    weight: 1,
    method: 'GET',
    path: buildPath('large'),
    healthyStatuses: [200],
    degradedStatuses: backendFailures,
  },
  busy: {
    weight: 4,
    method: 'GET',
    path: buildPath('busy'),
    source: '203.0.113.9',
    healthyStatuses: [200, 429],
    degradedStatuses: backendFailures,
  },
  write: {
    ...{
      weight: 8,
      method: 'POST',
      path: buildPath('feedback'),
      healthyStatuses: [200],
      degradedStatuses: backendFailures,
    },
    headers: `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n`,
    body,
  },
  preflight: { weight: 2, method: 'OPTIONS', path: buildPath('report'), healthyStatuses: [204], degradedStatuses: [] },
  unlisted: { weight: 5, method: 'GET', path: buildPath('admin'), healthyStatuses: [404], degradedStatuses: [] },
  method: { weight: 2, method: 'DELETE', path: buildPath('report'), healthyStatuses: [404], degradedStatuses: [] },
  hidden: {
    ...{ weight: 3, method: 'GET', isRaw: true, healthyStatuses: [404], degradedStatuses: [] },
    path: (number: number) => `/api/v1/report%2f..%2f${number}`,
  },
  unsound: {
    ...{ weight: 2, method: 'GET', path: buildPath('report'), healthyStatuses: [400], degradedStatuses: [] },
    headers: 'Range: bytes=0-1\r\nRange: bytes=2-3\r\n',
  },
  too_large: {
    ...{ weight: 2, method: 'POST', path: buildPath('feedback'), healthyStatuses: [413], degradedStatuses: [503] },
    headers: 'Content-Length: 9999999\r\n',
  },
} as const satisfies Readonly<Record<string, ProxyRequestKind>>

export type ProxyRequestKindName = keyof typeof proxyRequestKinds

const weights = Object.fromEntries(
  Object.entries(proxyRequestKinds).map(([name, { weight }]) => [name, weight]),
) as Record<ProxyRequestKindName, number>

/** Of so many paths of each kind each is requested repeatedly. */
const paths = 40

export type ProxyLoadRequest = { readonly kind: ProxyRequestKindName; readonly path: string; readonly text: string }

export function pickRequest(by: SeededRandom): ProxyLoadRequest {
  const kind = by.weighted(weights)
  const { method, path, source, isRaw, headers = '', body: sent = '' }: ProxyRequestKind = proxyRequestKinds[kind]
  const below = path(by.below(paths))
  const target = `/public-api${below}`
  const from = source ?? `198.51.100.${by.below(250)}`
  const head = `${method} ${target} HTTP/1.1\r\nHost: door\r\nX-Forwarded-For: ${from}\r\n${headers}\r\n`
  return { kind, path: isRaw ? target : below, text: head + sent }
}
