// Any bytes on real connections: what reaches the upstream is always one sound, listed request; each request has one answer and one record.
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { parseIp } from '../../../daemon/kernel/ip-address.ts'
import { reasons } from '../../../daemon/roles/proxy/reasons.ts'
import { normalForm } from '../../../daemon/roles/proxy/request/path.ts'
import { type DoorThread, doorThread, type Left, threadToken } from '../../support/door-thread.ts'
import { type Sending, sending } from '../../support/hostile-bytes.ts'
import { corpusAllowlist } from '../../support/proxy-corpus.ts'
import { type Reached, valuesOf } from '../../support/reached.ts'

/** FAST_CHECK_SEED and FAST_CHECK_RUNS go further than each check of the project does. */
const seed = Number(process.env.FAST_CHECK_SEED ?? 20_260_101)
const connections = Number(process.env.FAST_CHECK_RUNS ?? 800)
const at_once = 80

let thread: DoorThread
afterEach(() => thread?.remove())

const marker =
  'OPTIONS /public-api/api/v1/report HTTP/1.1\r\nHost: a\r\nAccess-Control-Request-Headers: last-word\r\n\r\n'

/** All that came back, once the door has closed or has answered what was sent last. Rejects when it does neither. */
function spoken(port: number, { bytes, cuts }: Sending): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const late = setTimeout(() => reject(new Error(`no end: ${JSON.stringify(bytes)}`)), 60_000)
    let text = ''
    const over = () => {
      clearTimeout(late)
      socket.destroy()
      resolve(text)
    }
    socket.setEncoding('latin1')
    socket.on('data', (piece: string) => {
      text += piece
      if (text.includes('access-control-allow-headers: last-word')) over()
    })
    socket.on('error', () => undefined)
    socket.on('close', over)
    const pieces = [...cuts, bytes.length].map((end, at, all) => bytes.slice(all[at - 1] ?? 0, end))
    const write = (at: number): void => {
      if (socket.destroyed) return
      socket.write(pieces[at] ?? marker, 'latin1')
      if (at < pieces.length) setImmediate(() => write(at + 1))
    }
    socket.on('connect', () => write(0))
  })
}

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status))

/** Those of docs/proxy.md that a sound upstream, a provider and counters leave; 502 and 503 would be the door's own fault. */
const possible = new Set([200, 204, 400, 404, 408, 413, 417, 431, 501, 505])

const mayGo = new Set([
  ...['accept', 'accept-language', 'accept-encoding', 'content-type', 'content-language', 'content-encoding', 'range'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'traceparent'],
  ...['host', 'authorization', 'x-forwarded-for', 'content-length'],
])

function wrongIn(request: Reached, upstream: number): string[] {
  const { method, target, fields, oddities } = request
  const path = target.split('?', 1)[0] ?? ''
  const listed = method === 'POST' ? /^\/api\/v1\/feedback$/ : /^\/api\/v1\/report(\/[^/]+)?$/
  const normal = normalForm(target, 0)
  const once = fields.map(([name]) => name)
  return [
    ...oddities,
    ...(['GET', 'POST'].includes(method) && listed.test(path) ? [] : ['not listed']),
    ...('path' in normal && normal.path === path ? [] : ['not in its normal form']),
    ...once.filter((name) => !mayGo.has(name)).map((name) => `${name} went on`),
    ...(new Set(once).size === once.length ? [] : ['a field twice']),
    ...(valuesOf(request, 'host')[0] === `127.0.0.1:${upstream}` ? [] : ['another host']),
    ...(valuesOf(request, 'authorization')[0] === `Bearer ${threadToken}` ? [] : ['another token']),
    ...(parseIp(valuesOf(request, 'x-forwarded-for')[0] ?? '') ? [] : ['no source']),
    ...(method === 'POST' || request.body === '' ? [] : ['a body with GET']),
  ]
}

const sorted = (all: readonly string[]) => all.toSorted()

/** What is recorded, what was answered and what reached the upstream must be one story. */
function expectOneStory(
  { records, strays, pods, logged }: Left,
  answers: readonly number[],
  reached: readonly Reached[],
) {
  const forwarded = records
    .filter(({ reason }) => reason === 'forwarded')
    .map(({ method, path }) => `${method} ${path}`)
  const arrived = reached.map(({ method, target }) => `${method} ${target.split('?', 1)[0]}`)
  // Nobody has left: a request that is recorded as gone would be one that the door itself dropped.
  expect(records.filter(({ status }) => status === 0)).toEqual([])
  expect(sorted(arrived)).toEqual(sorted(forwarded))
  const { malformed = 0, head_too_large = 0, too_slow = 0 } = strays
  expect(answers.length).toBe(records.length + pods + malformed + head_too_large + too_slow)
  for (const { reason, status } of records) {
    const fixed = reasons[reason as keyof typeof reasons].status
    if (fixed !== null && reason !== 'malformed') expect([reason, status]).toEqual([reason, fixed])
  }
  expect(logged.filter((line) => line.includes('proxy.request.failed'))).toEqual([])
  expect(JSON.stringify([records, logged])).not.toContain(threadToken)
}

test(`whatever is sent, by seed ${seed}`, async () => {
  thread = await doorThread({
    ...{ allowlist: corpusAllowlist, header_timeout_s: 1, body_timeout_s: 1, keep_alive_s: 1 },
  })
  const { port, upstream } = thread
  const answers: number[] = []
  const wrong: string[] = []
  const all = fc.sample(sending, { seed, numRuns: connections })
  for (let from = 0; from < all.length; from += at_once) {
    const some = all.slice(from, from + at_once)
    for (const [at, text] of (await Promise.all(some.map((each) => spoken(port, each)))).entries()) {
      const statuses = statusesIn(text)
      const odd = statuses.filter((status) => !possible.has(status))
      if (odd.length > 0 || text.includes(threadToken)) wrong.push(`${odd} to ${JSON.stringify(some[at]?.bytes)}`)
      answers.push(...statuses)
    }
  }
  const left = await thread.end()
  expect(wrong).toEqual([])
  const odd = upstream.reached.flatMap((request) => {
    const why = wrongIn(request, upstream.port)
    return why.length > 0 ? [[request.head, ...why]] : []
  })
  expect(odd).toEqual([])
  expect(upstream.leftovers()).toEqual([])
  expect(upstream.reached.length).toBeGreaterThan(connections / 50)
  expectOneStory(left, answers, upstream.reached)
})
