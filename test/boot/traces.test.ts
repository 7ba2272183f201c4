// The spans of requests and deliveries that a collector gets, and that no request waits for it or fails by it.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { messageName, partFileName } from '../../adapters/transport/filedrop/files/message-name.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  startConsensusSite,
} from '../roles/consensus/consensus-site.ts'
import { buildOpinionFields, openInvitedSession } from '../roles/consensus/federated-session.ts'
import { createPeerSite } from '../roles/consensus/peer-site.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../support/http/otlp-receiver.ts'
import { type TestSite, waitUntil } from '../support/site/test-site.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'
const buildHeaders = (flags: string) => ({ headers: { traceparent: `00-${trace}-${parent}-${flags}` } })

const bravo = await createPeerSite('bravo', 'tenant-b')
afterAll(() => bravo.remove())

/** A site that tells this collector, every few milliseconds. */
async function startTracedSite(collector: Pick<OtlpReceiver, 'url'>, env: Readonly<Record<string, string>> = {}) {
  const world = await startConsensusSite({
    contributors: ['alice'],
    peers: [bravo.pinned],
    profile: { platform: { drain_ms: 500 }, filedrop: { rescan_ms: 100 } },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '20', ...env },
  })
  onTestFinished(() => world.end())
  return world
}

async function startCollector(env: Readonly<Record<string, string>> = {}) {
  const collector = await startOtlpReceiver()
  onTestFinished(() => collector.close())
  return { collector, world: await startTracedSite(collector, env) }
}

const sessions = '/api/v2/consensus/session'

async function createSession(world: TestSite, options: { headers?: Record<string, string> } = {}) {
  const { token } = await createOperator(world)
  return await world.call('consensus', 'POST', sessions, buildSessionInput({ m: 1, n: 1 }), { token, ...options })
}

describe('a request', () => {
  test('is a span of its own, in the trace of its sender, by the ids that its answer and the audit have', async () => {
    const { collector, world } = await startCollector({
      OTEL_SERVICE_NAME: 'decisions',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test%20bed,service.name=other',
    })
    const answer = await createSession(world, buildHeaders('01'))
    const span = await waitUntil(() => collector.spans.find(({ name }) => name === 'consensus.session.create'))
    expect(span).toMatchObject({
      traceId: trace,
      parentSpanId: parent,
      kind: 2,
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': sessions,
        'http.response.status_code': 201,
      },
      resource: {
        'service.name': 'decisions',
        'service.namespace': 'alpha',
        'service.version': expect.any(String),
        'deployment.environment': 'test bed',
      },
    })
    expect(answer.headers.get('traceparent')).toBe(`00-${trace}-${span.spanId}-01`)
    expect(span.ms).toBeGreaterThan(0)
    expect(span.ms).toBeLessThan(60_000)
    const { token } = await world.as({ roles: ['auditor'] })
    const { text } = await world.call('consensus', 'GET', '/api/v2/audit?action=consensus.session.create', undefined, {
      token,
    })
    expect(text).toContain(trace)
  })

  test('leads to spans of what it asks of other roles', async () => {
    const { collector, world } = await startCollector()
    const person = await createOperator(world)
    const { id } = await person.ok(create, buildSessionInput({ m: 1, n: 1 }))
    await person.ok(contribute, { id, ...buildOpinionInput('alice', 1) })
    const inner = await waitUntil(() =>
      collector.spans.find(({ kind, name }) => kind === 1 && name === 'site.signature.create'),
    )
    expect(inner).toMatchObject({ attributes: { 'platform.caller_role': 'consensus' }, isError: false })
    expect(inner.parentSpanId).toMatch(/^[0-9a-f]{16}$/)
  })

  test('a refusal is not an error of its span, except for an internal fault', async () => {
    const { collector, world } = await startCollector()
    await world.call('consensus', 'GET', `${sessions}/nothing`)
    const span = await waitUntil(() => collector.spans.find(({ name }) => name === 'consensus.session.get'))
    expect(span).toMatchObject({
      isError: false,
      attributes: { 'http.response.status_code': 401, 'http.route': `${sessions}/{id}` },
    })
    expect(span.parentSpanId ?? '').toBe('')
  })

  test('tells nothing of what it says, who sends it, or by which credential', async () => {
    const { collector, world } = await startCollector({ OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20secret' })
    const { token } = await createOperator(world)
    const body = { ...buildSessionInput({ m: 1, n: 1 }), lens_id: 'a-lens-with-a-name' }
    await world.call('consensus', 'POST', `${sessions}?page=hidden`, body, { token })
    await world.call('consensus', 'POST', sessions, body, { token })
    await world.call('consensus', 'GET', `${sessions}/ses_hidden`, undefined, { token })
    await waitUntil(() => collector.spans.find(({ name }) => name === 'consensus.session.get'))
    for (const word of ['a-lens-with-a-name', 'hidden', 'olga', token, 'secret']) {
      expect(collector.bodies.join('')).not.toContain(word)
    }
    expect(collector.headers[0]).toMatchObject({ 'x-key': 'a secret' })
  })
})

test('a message from a peer is a span, and its trace goes on in the role that takes it', async () => {
  const { collector, world } = await startCollector()
  const session = await openInvitedSession(world, { m: 2, n: 2 }, ['bravo'])
  const { envelope, body } = await bravo.message('contribution', buildOpinionFields(session.id, 0.9), {
    epoch: 1,
    seq: 1,
  })
  const { stem } = messageName(1, 1)
  const folder = path.join(world.folder.filedrop, 'bravo', 'in', 'new')
  fs.writeFileSync(path.join(folder, partFileName(stem, 'body')), Buffer.from(body, 'base64url'))
  fs.writeFileSync(path.join(folder, partFileName(stem, 'env')), JSON.stringify(envelope))
  const span = await waitUntil(() => collector.spans.find(({ name }) => name === 'deliver contribution'))
  expect(span).toMatchObject({
    kind: 5,
    isError: false,
    attributes: {
      'messaging.system': 'filedrop',
      'platform.peer': 'bravo',
      'messaging.message.id': expect.any(String),
    },
  })
  const taken = await waitUntil(() => collector.spans.find(({ parentSpanId }) => parentSpanId === span.spanId))
  expect(taken).toMatchObject({ name: 'consensus.federation.contribute', traceId: span.traceId, kind: 1 })
})

describe('the sampling decision', () => {
  const names = (collector: OtlpReceiver) =>
    collector.spans.filter(({ traceId }) => traceId === trace).map(({ name }) => name)
  /** By the order in which spans are sent, all before this one have come. */
  async function after(world: TestSite, collector: OtlpReceiver) {
    await world.call('consensus', 'GET', '/service-info', undefined, buildHeaders('01'))
    await waitUntil(() => names(collector).includes('consensus.service.info'))
  }

  test('the sender decides by default', async () => {
    const { collector, world } = await startCollector()
    expect((await createSession(world, buildHeaders('00'))).headers.get('traceparent')).toMatch(/-00$/)
    await after(world, collector)
    expect(names(collector)).toEqual(['consensus.service.info'])
  })

  test('nobody, where all or none are', async () => {
    const { collector, world } = await startCollector({ OTEL_TRACES_SAMPLER: 'always_on' })
    expect((await createSession(world, buildHeaders('02'))).headers.get('traceparent')).toMatch(/-03$/)
    await waitUntil(() => names(collector).includes('consensus.session.create'))
    const off = await startTracedSite(collector, { OTEL_TRACES_SAMPLER: 'always_off' })
    expect((await createSession(off, buildHeaders('01'))).headers.get('traceparent')).toMatch(/-00$/)
  })

  test('the settings: none without an exporter, or when it is switched off', async () => {
    const collector = await startOtlpReceiver()
    onTestFinished(() => collector.close())
    for (const env of [
      { OTEL_SDK_DISABLED: 'true' },
      { OTEL_TRACES_EXPORTER: 'none' },
      { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    ]) {
      const world = await startTracedSite(collector, env)
      expect((await createSession(world)).headers.get('traceparent')).toMatch(/-02$/)
      await world.stop()
    }
    expect(collector.headers).toEqual([])
  })

  test.each([
    [{ OTEL_TRACES_EXPORTER: 'console' }, 'traces.exporter: must be one of otlp, none'],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'traces.sampler: must be one of'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a secret without a name' }, 'traces.headers must be a list as in name=value'],
  ])('settings that cannot be followed keep it from starting: %j', async (env, why) => {
    const refused = startTracedSite({ url: 'http://127.0.0.1:9' }, env)
    await expect(refused).rejects.toThrow(why)
    await expect(refused).rejects.not.toThrow('a secret')
  })
})

describe('a collector that is of no use', () => {
  let collector: OtlpReceiver
  beforeAll(async () => {
    collector = await startOtlpReceiver()
  })
  afterAll(() => collector.close())

  test.each<[string, number | 'hang']>([
    ['refuses', 400],
    ['is overloaded', 503],
    ['never answers', 'hang'],
  ])('and %s: requests are answered, and the site stops in time', async (_, status) => {
    collector.respondWith(status)
    const world = await startTracedSite(collector, {
      OTEL_BSP_MAX_QUEUE_SIZE: '4',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
    })
    const statuses = await Promise.all(Array.from({ length: 40 }, () => createSession(world)))
    expect(statuses.map(({ status: each }) => each)).toEqual(Array(40).fill(201))
    const began = performance.now()
    await world.stop()
    expect(performance.now() - began).toBeLessThan(8_000)
    expect(world.loggedErrors).toEqual([])
  })

  test('sends the waiting spans before the end', async () => {
    const { collector: used, world } = await startCollector({ OTEL_BSP_SCHEDULE_DELAY: '600000' })
    await createSession(world)
    expect(used.spans).toEqual([])
    await world.stop()
    expect(used.spans.map(({ name }) => name)).toContain('consensus.session.create')
  })
})
