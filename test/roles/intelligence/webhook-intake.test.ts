// Webhooks as a sender, a forger and a thief of old deliveries send them.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postWebhook } from '../../../adapters/webhook/http/webhook.ts'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { max_failures } from '../../../daemon/roles/intelligence/signal-intake/rate-windows.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildAlert,
  buildPlatformHeaders,
  buildStandardHeaders,
  createTempFolder,
  listSignals,
  readSourceStatus,
  sampleMapping,
  sendWebhook,
} from './intake-sender.ts'

const files = createTempFolder()
const secret = randomBytes(24).toString('hex')
const whsec = `whsec_${randomBytes(24).toString('base64')}`
const retired = randomBytes(24).toString('hex')
const secret_files = [files.file('new', `${secret}\n`), files.file('old', retired)]
const looseSecretFile = files.file('loose', secret, 0o640)
const { id: _id, ...withoutId } = sampleMapping

const buildWebhookSource = (name: string, more: object = {}) => ({
  kind: 'webhook',
  name,
  secret_files,
  mapping: sampleMapping,
  ...more,
})
const sources = [
  buildWebhookSource('siem', { classification: { level: 'SECRET', categories: ['A'] } }),
  buildWebhookSource('standard', { secret_files: [files.file('whsec', whsec)], mapping: withoutId }),
  buildWebhookSource('listed', { mapping: { ...sampleMapping, items: '/alerts' } }),
  buildWebhookSource('guest', { tenant_id: 'tenant-b' }),
  buildWebhookSource('loose', { secret_files: [looseSecretFile] }),
  buildWebhookSource('short', { secret_files: [files.file('short', 'short')] }),
  buildWebhookSource('gone', { secret_files: [`${files.dir}/nothing`] }),
  buildWebhookSource('slow', { max_per_minute: 3 }),
  buildWebhookSource('attacked'),
]

let world: TestSite
beforeAll(async () => {
  const profile = {
    platform: { roles: ['site', 'intelligence'] },
    intelligence: { port: 0 },
    intake: { sources },
  }
  world = await startTestSite({ profile })
})
afterAll(async () => {
  await world?.end()
  files.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const now = () => world.clock.now()
const postSigned = (source: string, payload: unknown, by = secret, at = now()) => {
  const body = JSON.stringify(payload)
  return sendWebhook(world, source, body, buildPlatformHeaders(by, body, at))
}

describe('a delivery that is rightly signed', () => {
  test('is a signal under the tenant and label of its source, independent of its content', async () => {
    const alert = { ...buildAlert('a-1'), classification: 'UNCLASSIFIED', tenant_id: 'tenant-b', status: 'resolved' }
    const { status, signals } = await postSigned('siem', alert)
    expect(status).toBe(200)
    const [uid = ''] = signals ?? []
    const cleared = await world.as({ clearance: { level: 'SECRET', categories: ['A'] } })
    expect(await cleared.ok(get, { uid })).toMatchObject({
      signal_type: 'siem_alert',
      severity: 'high',
      title: 'Alert a-1',
      subject: { type: 'asset', id: '7', name: 'gate' },
      detected_at: '2026-03-02T11:00:00.000Z',
      source: { type: 'webhook', name: 'siem' },
      actor: { type: 'service', id: 'source:siem' },
      created_by: 'source:siem',
      status: 'new',
      tenant_id: 'tenant-a',
      classification: { level: 'SECRET', categories: ['A'] },
      metadata: { rule: 'r1', received: { from: 'source:siem', as: 'id:a-1' }, status_history: [] },
    })
    const low = await world.as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
    expect(await low.refusal(get, { uid })).toBe('not_found')
  })

  test('is one signal, with the same answer, however often and however many at once it comes', async () => {
    const first = await postSigned('siem', buildAlert('a-2'))
    world.clock.advance(1_000)
    const again = await Promise.all(
      Array.from({ length: 8 }, () => postSigned('siem', buildAlert('a-2', { level: 1 }))),
    )
    for (const { status, signals } of again) expect([status, signals]).toEqual([200, first.signals])
    expect(await readSourceStatus(world, 'siem')).toMatchObject({ repeated: expect.any(Number) })
    expect((await readSourceStatus(world, 'siem')).repeated).toBeGreaterThanOrEqual(8)
  })

  test('may be signed by either secret while it is changed, and by the new one alone once the file says so', async () => {
    expect((await postSigned('siem', buildAlert('a-3'), retired)).status).toBe(200)
    fs.writeFileSync(secret_files[1] as string, randomBytes(24).toString('hex'))
    expect(await postSigned('siem', buildAlert('a-3'), retired)).toMatchObject({
      status: 403,
      code: 'signature_invalid',
    })
    expect((await postSigned('siem', buildAlert('a-3'))).status).toBe(200)
  })

  test('may be one of Standard Webhooks: its id is that of the delivery', async () => {
    const body = JSON.stringify(buildAlert(undefined as unknown as string, { name: 'standard' }))
    const headers = buildStandardHeaders(whsec, 'msg_1', body, now())
    const first = await sendWebhook(world, 'standard', body, headers)
    expect(first.status).toBe(200)
    const rotated = { ...headers, 'webhook-signature': `v1a,xyz v1,AAAA ${headers['webhook-signature']}` }
    expect(await sendWebhook(world, 'standard', body, rotated)).toMatchObject({ status: 200, signals: first.signals })
    const other = await sendWebhook(world, 'standard', body, buildStandardHeaders(whsec, 'msg_2', body, now()))
    expect(other.signals).not.toEqual(first.signals)
  })

  test('may come from another platform’s own webhooks', async () => {
    const url = `${world.url('intelligence')}/api/v1/signal-intake/webhook/siem`
    const sent = { trace: sampleTrace, signal: new AbortController().signal }
    await postWebhook(
      { url, secret_file: secret_files[0] as string },
      { id: 'ev-1', ...buildAlert('p-1') },
      sent,
      now(),
    )
    expect((await readSourceStatus(world, 'siem')).last_success_at).toBe(new Date(now()).toISOString())
  })

  test('may hold several, of which all are raised or, with one that is none, nothing', async () => {
    const alerts = [buildAlert('l-1'), buildAlert('l-2')]
    const { signals } = await postSigned('listed', { alerts })
    expect(new Set(signals)).toHaveProperty('size', 2)
    const bad = await postSigned('listed', { alerts: [buildAlert('l-3'), buildAlert('l-4', { name: null }), {}] })
    expect([bad.status, bad.code]).toEqual([422, 'invalid'])
    expect(bad.errors?.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['1.title', '2.title', '2.subject.id', '2.id']),
    )
    const ahead = buildAlert('l-6', { time: now() + 3 * 86_400_000 })
    expect((await postSigned('listed', { alerts: [buildAlert('l-5'), ahead] })).status).toBe(422)
    const known = (await listSignals(world)).map(({ metadata }) => metadata.received?.as)
    expect(known).toContain('id:l-1')
    for (const id of ['l-3', 'l-5', 'l-6']) expect(known).not.toContain(`id:${id}`)
    expect(await postSigned('listed', { alerts: 7 })).toMatchObject({ status: 422, errors: [{ path: '/alerts' }] })
  })

  test('of another tenant’s source is that tenant’s alone', async () => {
    const [uid = ''] = (await postSigned('guest', buildAlert('g-1'))).signals ?? []
    expect(await (await world.as()).refusal(get, { uid })).toBe('not_found')
    const bea = await world.as({ subject: 'bea', tenant: 'tenant-b' })
    expect(await bea.ok(get, { uid })).toMatchObject({ tenant_id: 'tenant-b' })
    await expect(readSourceStatus(world, 'guest')).rejects.toThrow('no source')
  })
})

describe('a delivery that is not', () => {
  const body = JSON.stringify(buildAlert('x-1'))
  const cases: [string, () => Record<string, string>, (string | Uint8Array)?][] = [
    ['without a signature', () => ({})],
    ['by another secret', () => ({ ...buildPlatformHeaders('another-secret-of-somebody', body, now()) })],
    ['with its body changed', () => ({ ...buildPlatformHeaders(secret, body, now()) }), body.replace('x-1', 'x-2')],
    ['with its time changed', () => shiftTimestamp(buildPlatformHeaders(secret, body, now() - 1_000))],
    ['signed an hour ago', () => ({ ...buildPlatformHeaders(secret, body, now() - 3_600_000) })],
    ['signed in an hour', () => ({ ...buildPlatformHeaders(secret, body, now() + 3_600_000) })],
    [
      'with half a signature',
      () => ({
        'x-platform-signature': buildPlatformHeaders(secret, body, now())['x-platform-signature']?.slice(0, -2) ?? '',
      }),
    ],
    [
      'with two of our headers',
      () => ({
        'x-platform-signature': `t=1,v1=00, ${buildPlatformHeaders(secret, body, now())['x-platform-signature']}`,
      }),
    ],
    ['by the empty secret', () => ({ ...buildPlatformHeaders('', body, now()) })],
    ['with an id that holds a dot', () => buildStandardHeaders(whsec, 'msg_1.1', body, now())],
  ]
  test.each(cases)('%s is refused, and nothing of it is parsed or stored', async (_, headers, sent = body) => {
    const before = (await listSignals(world)).length
    expect(await sendWebhook(world, 'attacked', sent, headers())).toMatchObject({
      status: 403,
      code: 'signature_invalid',
    })
    expect((await listSignals(world)).length).toBe(before)
  })

  test('looks the same as one to an unknown source', async () => {
    const one = await sendWebhook(world, 'attacked', '{', {})
    const { detail } = await sendWebhook(world, 'no-such-source', '{', {})
    expect([one.status, one.detail]).toEqual([403, detail])
  })

  test('is refused where the secret file is not private, and the answer reveals nothing of files', async () => {
    for (const [source, why] of [
      ['loose', 'can be read by others'],
      ['short', '16 bytes'],
      ['gone', 'does not exist'],
    ] as const) {
      const answer = await postSigned(source, buildAlert('y-1'), source === 'short' ? 'short' : secret)
      expect([answer.status, answer.detail]).toEqual([503, expect.stringContaining(why)])
      expect(JSON.stringify(answer)).not.toContain(files.dir)
    }
    expect(await readSourceStatus(world, 'loose')).toMatchObject({ failed: 1, last_error: { code: 'unavailable' } })
  })

  test('in great number gets a retry time, fills no audit, and delays no sender that signs', async () => {
    const answers = []
    for (let at = 0; at < 2 * max_failures; at++) answers.push(await sendWebhook(world, 'attacked', '{}', {}))
    const waiting = answers.filter(({ status }) => status === 429)
    expect(waiting.length).toBeGreaterThanOrEqual(max_failures)
    expect(Number(waiting[0]?.retry_after)).toBeGreaterThan(0)
    expect((await postSigned('attacked', buildAlert('ok-1'))).status).toBe(200)
    for (let at = 0; at < 2 * max_failures; at++) await sendWebhook(world, `nobody-${at}`, '{}', {})
    const { token } = await world.as({ subject: 'role:intelligence', roles: ['admin'], tenant: '*' })
    const { json } = await world.call('intelligence', 'GET', '/api/v1/audit?limit=500', undefined, { token })
    const refused = (json as { items: unknown[] }).items
      .map((item) => auditRecord.parse(item).event)
      .filter((event) => event?.action === 'intelligence.signal-intake.deliver')
    expect(refused.length).toBeLessThanOrEqual(3 * max_failures)
    expect(refused.length).toBeGreaterThan(0)
  })
})

test('a sender beyond the profile’s rate gets a retry time', async () => {
  const statuses = []
  for (let at = 0; at < 5; at++) statuses.push((await postSigned('slow', buildAlert(`s-${at}`))).status)
  expect(statuses).toEqual([200, 200, 200, 429, 429])
})

test('signed content that is invalid JSON, does not fit the mapping, or is too large is refused with the reason', async () => {
  const raw = async (bytes: Uint8Array | string) => {
    const body = Buffer.from(bytes)
    return sendWebhook(world, 'siem', body, buildPlatformHeaders(secret, body, now()))
  }
  expect(await raw('{"alert":')).toMatchObject({ status: 400, code: 'malformed' })
  expect(await raw(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ status: 400 })
  expect(await raw('{"__proto__":{"alert":{}}}')).toMatchObject({ status: 400 })
  expect(await raw('{"alert":{"id":"a","id":"b"}}')).toMatchObject({ status: 400, code: 'malformed' })
  expect(await raw('[]')).toMatchObject({ status: 422 })
  expect(await raw(JSON.stringify(buildAlert('a', { name: 'x'.repeat(200_000) })))).toMatchObject({ status: 413 })
  const status = () => readSourceStatus(world, 'siem')
  await expect.poll(status).toMatchObject({ last_error: { code: 'invalid' } })
})

function shiftTimestamp(headers: Readonly<Record<string, string>>): Record<string, string> {
  const signature = headers['x-platform-signature'] ?? ''
  return { 'x-platform-signature': signature.replace(/t=(\d+)/, (_, at: string) => `t=${Number(at) + 1}`) }
}

test('the health names the sources whose secrets cannot be used, and why, without a path', async () => {
  const token = await world.token({ roles: ['operator'] })
  const { json } = await world.call('intelligence', 'GET', '/api/v1/health', undefined, { token })
  const { status, dependencies } = json as {
    status: string
    dependencies: { name: string; state: string; detail: string }[]
  }
  const down = dependencies.filter(({ name, state }) => name.startsWith('source ') && state !== 'ok')
  expect([status, down.map(({ name }) => name)]).toEqual(['degraded', ['source loose', 'source short', 'source gone']])
  expect(down.map(({ detail }) => detail).join()).toMatch(/others.*less than 16 bytes/)
  expect(JSON.stringify(json)).not.toContain(files.dir)
})
