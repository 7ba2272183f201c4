// What strangers ask a soaked door, and what each may be told: whatever is dead behind it, and once all is well.
import type { Chance } from '../support/chance.ts'

export type Kind = {
  /** How often, among all. */
  readonly weight: number
  readonly method: string
  /** After the prefix: as it is asked for, and recorded. */
  readonly path: (number: number) => string
  /** It has no normal form, and is recorded with the prefix. */
  readonly isRaw?: true
  readonly headers?: string
  readonly body?: string
  /** Of the trusted hop; one of many when absent. */
  readonly source?: string
  /** While everything runs. */
  readonly well: readonly number[]
  /** Also while something is dead. */
  readonly ill: readonly number[]
}

/** Requests of a source by the rule that has a limit. */
export const busy_limit = 50

export const rules: readonly string[] = [
  'GET /api/v1/report/{id}',
  'GET /api/v1/large/{id}',
  'GET /api/v1/kept/{id} cache=1',
  `GET /api/v1/busy/{id} limit=${busy_limit}`,
  'POST /api/v1/feedback/{id}',
]

const body = 'x'.repeat(700)
/** The counter or the token is missing; the upstream is; it does not answer. */
const behind = [503, 502, 504]
const under = (path: string) => (number: number) => `/api/v1/${path}/${number}`

export const kinds = {
  report: { weight: 60, method: 'GET', path: under('report'), well: [200], ill: behind },
  kept: { weight: 10, method: 'GET', path: under('kept'), well: [200], ill: behind },
  large: { weight: 1, method: 'GET', path: under('large'), well: [200], ill: behind },
  busy: { weight: 4, method: 'GET', path: under('busy'), source: '203.0.113.9', well: [200, 429], ill: behind },
  write: {
    ...{ weight: 8, method: 'POST', path: under('feedback'), well: [200], ill: behind },
    headers: `Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n`,
    body,
  },
  preflight: { weight: 2, method: 'OPTIONS', path: under('report'), well: [204], ill: [] },
  unlisted: { weight: 5, method: 'GET', path: under('admin'), well: [404], ill: [] },
  method: { weight: 2, method: 'DELETE', path: under('report'), well: [404], ill: [] },
  hidden: {
    ...{ weight: 3, method: 'GET', isRaw: true, well: [404], ill: [] },
    path: (number: number) => `/api/v1/report%2f..%2f${number}`,
  },
  unsound: {
    ...{ weight: 2, method: 'GET', path: under('report'), well: [400], ill: [] },
    headers: 'Range: bytes=0-1\r\nRange: bytes=2-3\r\n',
  },
  too_large: {
    ...{ weight: 2, method: 'POST', path: under('feedback'), well: [413], ill: [503] },
    headers: 'Content-Length: 9999999\r\n',
  },
} as const satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds

const weights = Object.fromEntries(Object.entries(kinds).map(([name, { weight }]) => [name, weight])) as Record<
  KindName,
  number
>

/** Of so many paths of each kind each is asked for again and again. */
const paths = 40

export type Request = { readonly kind: KindName; readonly path: string; readonly text: string }

export function anyRequest(by: Chance): Request {
  const kind = by.weighted(weights)
  const { method, path, source, isRaw, headers = '', body: sent = '' }: Kind = kinds[kind]
  const below = path(by.below(paths))
  const target = `/public-api${below}`
  const from = source ?? `198.51.100.${by.below(250)}`
  const head = `${method} ${target} HTTP/1.1\r\nHost: door\r\nX-Forwarded-For: ${from}\r\n${headers}\r\n`
  return { kind, path: isRaw ? target : below, text: head + sent }
}
