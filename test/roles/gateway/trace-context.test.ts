// The cases of W3C Trace Context, levels 1 and 2, through edge and gateway to a service: which traces go on, and which begin.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { sendRawHttp } from '../../support/http/send-raw-http.ts'
import {
  listFieldValues,
  type RecordingUpstream,
  respondOk,
  startRecordingUpstream,
} from '../../support/proxy/recording-upstream.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'
import { type EdgeSite, startEdgeSite } from '../edge/edge-site.ts'

let service: RecordingUpstream
let gateway: TestSite
let edge: EdgeSite
let token: string
const events: string[] = []
const recordEvents = (role: string) => (event: string, fields: Readonly<Record<string, unknown>>) =>
  void events.push(`${role} ${event} ${fields.mode}`)
const gatewayPort = () => Number(new URL(gateway.url('gateway')).port)
beforeAll(async () => {
  service = await startRecordingUpstream(respondOk)
  const [port = 0] = await findFreePorts(1)
  gateway = await startTestSite({
    name: 'back',
    profile: {
      platform: { roles: ['site', 'intelligence', 'gateway'] },
      ...{ intelligence: { port }, gateway: { port: 0 } },
      ingress: {
        rest_gateway: { enabled: true },
        backends: { 'resolution-service': [`http://127.0.0.1:${service.port}`] },
      },
    },
    onEvent: recordEvents('gateway'),
  })
  const behind = [gateway.url('gateway')]
  edge = await startEdgeSite({
    backends: { 'resolution-service': behind, 'intelligence-service': behind },
    onEvent: recordEvents('edge'),
  })
  token = await gateway.token()
})
afterAll(async () => {
  await edge?.site.end()
  await gateway?.end()
  await service?.close()
})

const trace_id = '12345678901234567890123456789012'
const parent_id = '1234567890123456'
const valid = `00-${trace_id}-${parent_id}-01`

type HeaderLine = readonly [name: string, value: string]

/** The lines go out as they are, names and repetitions included. */
function sendLines(lines: readonly HeaderLine[], at = '/api/v1/lens', port = edge.port) {
  const head = [['host', 'a'], ['connection', 'close'], ['authorization', `Bearer ${token}`], ...lines]
  return sendRawHttp({ port }, `GET ${at} HTTP/1.1\r\n${head.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`)
}

/** Trace headers of the request as the service received it, and the trace that the answer names. */
async function traceThrough(lines: readonly HeaderLine[]) {
  service.requests.length = 0
  const { status, headers } = await sendLines(lines)
  const received = service.requests.filter(({ target }) => target === '/api/v1/lens')
  expect([status, received.length]).toEqual([200, 1])
  const values = (name: string) => received.flatMap((request) => listFieldValues(request, name))
  return { traceparent: values('traceparent'), tracestate: values('tracestate'), answered: headers.traceparent }
}

describe('a trace that goes on as it came', () => {
  test.each([
    ['in version 00', [['traceparent', valid]]],
    ['by a name in other cases', [['TrAcEpArEnT', valid]]],
    ['not sampled', [['traceparent', `00-${trace_id}-${parent_id}-00`]]],
    ['with a random id', [['traceparent', `00-${trace_id}-${parent_id}-03`]]],
    ['with flags that have no meaning yet', [['traceparent', `00-${trace_id}-${parent_id}-fc`]]],
    ['with space around', [['traceparent', ` \t${valid} \t`]]],
    ['of a later version', [['traceparent', `cc-${trace_id}-${parent_id}-01`]]],
    ['of a later version with further fields', [['traceparent', `cc-${trace_id}-${parent_id}-01-later`]]],
  ] as const)('%s', async (_, lines) => {
    const found = await traceThrough(lines)
    expect(found).toEqual({ traceparent: [lines[0][1].trim()], tracestate: [], answered: undefined })
  })
})

describe('a trace that begins here, without the state of the other one', () => {
  test.each([
    ['absent', []],
    ['by the name trace-parent', [['trace-parent', valid]]],
    ['by the name trace.parent', [['trace.parent', valid]]],
    [
      'repeated',
      [
        ['traceparent', valid],
        ['traceparent', valid],
      ],
    ],
    [
      'repeated with another id',
      [
        ['traceparent', valid],
        ['traceparent', valid.replace('1', '2')],
      ],
    ],
    ['in one field twice', [['traceparent', `${valid},${valid}`]]],
    ['empty', [['traceparent', '']]],
    ['of version ff', [['traceparent', `ff-${trace_id}-${parent_id}-01`]]],
    ['of version 00 with a further character', [['traceparent', `${valid}.`]]],
    ['of version 00 with a further field', [['traceparent', `${valid}-later`]]],
    ['of a later version with another separator', [['traceparent', `cc-${trace_id}-${parent_id}-01.later`]]],
    ...(
      [
        ['the version', 0, ['.0', '0.', '0', '000', '0000', 'CC', '']],
        ['the trace id', 1, [`.${trace_id.slice(1)}`, `${trace_id.slice(1)}.`, trace_id.slice(1), `${trace_id}3`]],
        ['the parent id', 2, [`.${parent_id.slice(1)}`, `${parent_id.slice(1)}.`, parent_id.slice(1), `${parent_id}7`]],
        ['the flags', 3, ['.0', '0.', '1', '001', '0F']],
        ['an id in upper case', 1, ['ABCDEF78901234567890123456789012']],
        ['a parent in upper case', 2, ['ABCDEF7890123456']],
        ['a trace id of zeros', 1, ['0'.repeat(32)]],
        ['a parent id of zeros', 2, ['0'.repeat(16)]],
      ] as const
    ).flatMap(([what, field, values]) =>
      values.map((value): [string, HeaderLine[]] => [
        `${what}: ${value || 'empty'}`,
        [['traceparent', valid.split('-').with(field, value).join('-')]],
      ]),
    ),
  ] as [string, HeaderLine[]][])('%s', async (_, lines) => {
    const found = await traceThrough([...lines, ['tracestate', 'foo=1']])
    expect(found).toEqual({ traceparent: [expect.any(String)], tracestate: [], answered: found.traceparent[0] })
    const [traceparent = ''] = found.traceparent
    expect(traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-02$/)
    expect(traceparent).not.toContain(trace_id)
  })
})

const members = (count: number) => Array.from({ length: count }, (_, at) => `bar${at}=${at}`).join(',')
const allowedKey = 'foo-_*/bar0123456789@vendor'
const allowedValue = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at))
  .filter((each) => each !== ',' && each !== '=')
  .join('')

describe('a state that goes on as it came', () => {
  test.each([
    ['of one member', ['foo=1']],
    ['of two', ['foo=1,bar=2']],
    ['of several fields', ['foo=1', 'bar=2', 'baz=3,rojo=4']],
    ['with empty members', ['foo=1,', '', ',bar=2']],
    ['with space around members', ['foo=1 \t , \t bar=2, \t baz=3']],
    ['with space within a value', ['foo=a b']],
    // Which of both counts is for the participant to decide that changes one.
    ['of a key twice', ['foo=1,foo=1']],
    ['of a key twice with two values', ['foo=1,foo=2', 'foo=3']],
    ['of 32 members', [members(32)]],
    ['of 512 characters', [`foo=${'1'.repeat(253)},bar=${'2'.repeat(250)}`]],
    ['of every character of a value', [`foo=${allowedValue}`]],
    ['of every kind of character of a key', [`${allowedKey}=1`]],
    ['of a key of 256 characters', [`${'z'.repeat(256)}=1`]],
    ['of a vendor of a tenant', [`${'t'.repeat(241)}@${'v'.repeat(14)}=1`]],
    ['of a key that begins with a digit', ['0foo=1']],
    ['of a value of 256 characters', [`foo=${'x'.repeat(256)}`]],
  ])('%s', async (_, values) => {
    const found = await traceThrough([
      ['traceparent', valid],
      ...values.map((value): HeaderLine => ['TraceState', value]),
    ])
    expect([found.traceparent, found.tracestate.join(',')]).toEqual([
      [valid],
      values.map((each) => each.trim()).join(','),
    ])
  })
})

describe('a state that is dropped, while its trace goes on', () => {
  test.each([
    ['without a value', ['foo']],
    ['with an empty value', ['foo=']],
    ['with a value of spaces', ['foo= ,bar=1']],
    ['with an empty key', ['=1']],
    ['one malformed member', ['foo=1,bar']],
    ['one malformed field', ['foo=1', 'bar!=2']],
    ['a key in upper case', ['FOO=1']],
    ['a key with a dot', ['foo.bar=1']],
    ['a key with a space', ['foo =1']],
    ['a key of 257 characters', [`${'z'.repeat(257)}=1`]],
    ['a value of 257 characters', [`foo=${'x'.repeat(257)}`]],
    ['a value with an equals sign', ['foo=bar=baz']],
    ['a value with a character outside ASCII', ['foo=\u00e9']],
    ['33 members', [members(33)]],
    ['33 members in two fields', [members(32), 'foo=1']],
    ['a list of separators', [',,,']],
  ])('%s', async (_, values) => {
    const found = await traceThrough([
      ['traceparent', valid],
      ...values.map((value): HeaderLine => ['tracestate', value]),
    ])
    expect(found).toEqual({ traceparent: [valid], tracestate: [], answered: undefined })
  })
})

test('of a list longer than what is forwarded, the short members go on', async () => {
  const long = Array.from({ length: 31 }, (_, at) => `vendor-${at}=${'v'.repeat(256)}`).join(',')
  expect(long.length).toBeGreaterThan(8_192)
  const found = await traceThrough([
    ['traceparent', valid],
    ['tracestate', `${long},foo=1`],
  ])
  expect([found.traceparent, found.tracestate]).toEqual([[valid], ['foo=1']])
})

test('a role behind both joins the trace, with a span of its own for each request', async () => {
  const answers = [valid, valid, undefined, undefined].map(async (traceparent) => {
    const { status, headers } = await sendLines(traceparent ? [['traceparent', traceparent]] : [], '/api/v1/signal')
    return [status, ...(headers.traceparent ?? '').split('-')]
  })
  const [joined, again, begun, other] = await Promise.all(answers)
  expect([joined, again]).toEqual(
    Array.from({ length: 2 }, () => [200, '00', trace_id, expect.stringMatching(/^[0-9a-f]{16}$/), '01']),
  )
  expect(new Set([parent_id, joined?.[3], again?.[3], begun?.[3], other?.[3]]).size).toBe(5)
  expect(new Set([trace_id, begun?.[2], other?.[2]]).size).toBe(3)
})

test('edge and gateway log the faults of traces, and serve the requests', async () => {
  const ports = [edge.port, gatewayPort()]
  const faulty: readonly HeaderLine[][] = [[], [['traceparent', 'x']]]
  for (const port of ports)
    for (const lines of faulty) expect((await sendLines(lines, '/api/v1/lens', port)).status).toBe(200)
  // Once a minute each: by the first requests of this file, or by these.
  for (const role of ['edge', 'gateway'])
    expect(events).toEqual(
      expect.arrayContaining([`${role} missing_traceparent adopt`, `${role} malformed_traceparent adopt`]),
    )
})

test('where traces are required, a request without a valid one reaches no service', async () => {
  const strict = await startTestSite({
    name: 'strict',
    profile: {
      platform: { roles: ['site', 'gateway'] },
      gateway: { port: 0 },
      ingress: {
        rest_gateway: { enabled: true },
        backends: { 'resolution-service': [`http://127.0.0.1:${service.port}`] },
      },
    },
    env: { GUIDE_REQUIRE_TRACEPARENT: 'true' },
  })
  onTestFinished(() => strict.end())
  const admitted = await strict.token()
  const reach = async (headers: Readonly<Record<string, string>>) => {
    const { status, json } = await strict.call('gateway', 'GET', '/api/v1/lens', undefined, {
      token: admitted,
      headers,
    })
    return [status, (json as { detail?: string }).detail]
  }
  expect(await reach({})).toEqual([400, expect.stringContaining('traceparent is missing')])
  expect(await reach({ traceparent: 'x' })).toEqual([400, expect.stringContaining('traceparent is malformed')])
  expect((await reach({ traceparent: valid }))[0]).toBe(200)
})
