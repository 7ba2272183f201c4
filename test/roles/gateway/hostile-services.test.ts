// Services and registrants that attack the gateway: its network, its memory, its time, and the names in its registry.

import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { networkRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { serviceInfoReader } from '../../../adapters/service-info/http/service-info-reader.ts'
import { register as registerOperation } from '../../../daemon/roles/gateway/registration/register.ts'
import { setUpGatewaySite, startService } from './gateway-site.ts'

const stage = setUpGatewaySite({ max_services: 2 })

describe('a URL', () => {
  test.each([
    ...[
      'http://169.254.169.254',
      'http://10.0.0.1:8001',
      'http://192.168.1.1',
      'http://[fd00::1]:80',
      'https://8.8.8.8',
    ],
    ...[
      'http://0.0.0.0:8001',
      'http://[::]:8001',
      'http://[::ffff:10.0.0.1]',
      'http://2852039166',
      'http://0xa9fea9fe',
    ],
    ...['http://169.254.169.254.', 'http://100.100.100.200'],
  ])('%s leads outside the allowed networks', async (url) => {
    const { problem } = await stage().register('svc:mallory', 'outside', url)
    expect(problem).toMatchObject({
      status: 422,
      errors: [{ path: 'url', message: expect.stringMatching(/^url_not_allowed: /) }],
    })
    expect(JSON.stringify(problem)).not.toMatch(/link-local|private|169\.254/)
  })

  test.each([
    ...['http://127.0.0.1:1/latest', 'http://127.0.0.1:1/?a', 'http://127.0.0.1:1#x', 'http://user:pass@127.0.0.1:1'],
    ...[
      'ftp://127.0.0.1',
      'file:///etc/passwd',
      'http://',
      'unix:/run/x',
      'javascript:alert(1)',
      'http://127.0.0.1:1/../x',
    ],
    `http://${'a'.repeat(2_050)}`,
  ])('%s is not one of a service', async (url) => {
    const { problem } = await stage().register('svc:mallory', 'formed', url)
    expect([problem?.status, problem?.errors[0]?.path]).toEqual([422, 'url'])
  })

  test('of a name that leads inside only at the second connection is dialled at none', async () => {
    const service = await startService({ name: 'rebound' })
    const { port } = new URL(service.url)
    const answers = ['127.0.0.1', '127.0.0.2']
    const read = serviceInfoReader({
      rule: networkRule(['127.0.0.1/32']),
      resolve: (_, done) => done(null, [{ address: answers.shift() ?? '10.0.0.1', family: 4 }]),
      parse: (bytes) => JSON.parse(bytes.toString()),
    })
    const { signal } = new AbortController()
    expect(await read(`http://rebinding.example:${port}`, signal)).toEqual({ value: { name: 'rebound' } })
    for (let at = 0; at < 2; at += 1)
      expect(await read(`http://rebinding.example:${port}`, signal)).toMatchObject({ fault: 'url_not_allowed' })
    expect(service.reads).toHaveLength(1)
  })
})

describe('a name', () => {
  test.each([
    '../x',
    'a/b',
    'A',
    'ä',
    'a b',
    '',
    '.',
    'a.b',
    '-a',
    'a-',
    'a_b',
    'x'.repeat(49),
    'a\u0000',
    'а',
    'toString',
  ])('%j is refused', async (name) => {
    const { problem } = await stage().register('svc:mallory', name, 'http://127.0.0.1:1')
    expect(problem).toMatchObject({ status: 422, errors: [{ path: 'name' }] })
  })

  test.each(['constructor', 'tostring', 'null'])('%s is a name as any other', async (name) => {
    const service = await startService({ name })
    const { problem } = await stage().register('svc:mallory', name, `${service.url}/`, 9)
    expect(problem).toMatchObject({ errors: [{ path: 'ttl_seconds' }] })
  })
})

const objects = (count: number) => Array.from({ length: count }, (_, at) => `object-${at}`)
const endless = (chunk: string) => (response: ServerResponse) => {
  response.writeHead(200)
  const send = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', send)
  send()
}
const answer =
  (text: string, status = 200, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(text)
const json = (info: unknown) => answer(JSON.stringify(info))

test.each<[string, (response: ServerResponse) => void, RegExp]>([
  [
    'redirects',
    answer('', 302, { location: 'http://127.0.0.1:1/service-info' }),
    /^service_unreachable: it answered 302/,
  ],
  ['answers without end', endless('x'.repeat(65_536)), /^service_info_invalid: .* more than 262144 bytes/],
  [
    'announces a gigabyte',
    (response) => void response.writeHead(200, { 'content-length': 1_000_000_000 }).write('{'.repeat(400_000)),
    /^service_info_invalid: .* more than/,
  ],
  ['is deep', answer(`{"name":"hostile","a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`), /not sound JSON/],
  ['repeats a key', answer('{"name":"hostile","name":"signal"}'), /not sound JSON/],
  ['has another prototype', answer('{"name":"hostile","__proto__":{"objects":[]}}'), /not sound JSON/],
  ['has very many values', json({ name: 'hostile', a: objects(20_000).map(() => 1) }), /not sound JSON/],
  ['has too many objects', json({ name: 'hostile', objects: objects(1_001) }), /wrong in objects/],
  ['has objects that are paths', json({ name: 'hostile', objects: ['../register'] }), /wrong in objects/],
  ['has objects in other letters', json({ name: 'hostile', objects: ['ѕignal'] }), /wrong in objects/],
  [
    'has paths elsewhere',
    json({ name: 'hostile', api_path: '//evil.example', mcp_path: 'http://evil.example' }),
    /wrong in mcp_path/,
  ],
  ['has another name', json({ name: 'other' }), /another name/],
  ['has no name', json({}), /wrong in name/],
  ['is no object', json([1]), /service-info is wrong/],
  ['is empty', answer(''), /not sound JSON/],
  ['is a page', answer('<html></html>'), /not sound JSON/],
  ['speaks no HTTP', (response) => void response.socket?.end('what?\r\n'), /^service_unreachable: it did not answer/],
  ['breaks off', (response) => void response.destroy(), /^service_unreachable: it did not answer/],
  ['never answers', () => undefined, /^service_unreachable: it did not answer within 5 s/],
  [
    'answers by the drop',
    (response) => {
      response.writeHead(200)
      const drip = () => void (response.destroyed || response.write(' ', () => setImmediate(drip)))
      drip()
    },
    /^service_(unreachable|info_invalid): /,
  ],
])('a service that %s is not registered', async (_, script, reason) => {
  const { register, states, events } = stage()
  const service = await startService()
  service.answerBy(script)
  const before = events.length
  const { problem } = await register('svc:mallory', 'hostile', service.url)
  expect(problem).toMatchObject({ status: 422, code: 'invalid', errors: [{ message: expect.stringMatching(reason) }] })
  expect(await states()).toEqual([])
  expect(events.length).toBe(before)
})

test('the registry has a bound, and a thousand objects of one service are not too many', async () => {
  const { register, states } = stage()
  const service = await startService({ name: 'large', objects: objects(1_000) })
  expect((await register('svc:large', 'large', service.url)).status).toBe(200)
  const second = await startService({ name: 'second' })
  expect((await register('svc:mallory', 'second', second.url)).status).toBe(200)
  const third = await startService({ name: 'third' })
  expect((await register('svc:mallory', 'third', third.url)).problem).toMatchObject({ status: 429 })
  expect((await register('svc:mallory', 'second', second.url)).status).toBe(200)
  expect(await states()).toEqual(['large live', 'second live'])
})

test('a body with more than the contract is refused', async () => {
  const client = await stage().as('svc:mallory')
  const input = { name: 'more', url: 'http://127.0.0.1:1', ttl_seconds: 60, component_kind: 'library' as const }
  expect(await client.refusal(registerOperation, { ...input, registered_by: 'svc:other' } as typeof input)).toBe(
    'invalid',
  )
})
