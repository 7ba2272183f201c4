// Effects that hand a payload to an external system: what it receives, what counts as acknowledged, and who may send.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { canonicalDigest, canonicalJson } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { get as getRun } from '../../../daemon/roles/ingest/dag-run/get.ts'
import { status as runStatus } from '../../../daemon/roles/ingest/dag-run/status.ts'
import { get } from '../../../daemon/roles/ingest/effect/get.ts'
import { taskLogId, taskLogs } from '../../../daemon/roles/ingest/runner/model.ts'
import { callTool } from '../../support/mcp/mcp-client.ts'
import { readAuditEvents } from '../../support/site/read-audit-events.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { readLanded, setUpIngestSite } from './ingest-site.ts'
import { deployAndRun } from './run-tasks.ts'

type Received = {
  readonly url: string
  readonly method: string
  readonly body: string
  readonly headers: http.IncomingHttpHeaders
}
const received: Received[] = []
/** Statuses by path, one after the other; the last one stays. */
const answers = new Map<string, number[]>()
const server = http.createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { url = '', method = '', headers } = request
  received.push({ url, method, headers, body: Buffer.concat(chunks).toString() })
  const [status = 201, ...rest] = answers.get(url) ?? []
  if (rest.length > 0) answers.set(url, rest)
  response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' })
  response.end(JSON.stringify({ case: { id: 'C-17' }, code: 'answer', detail: `is ${status}` }))
})
await once(server.listen(0, '127.0.0.1'), 'listening')

const folder = mkdtempSync(path.join(tmpdir(), 'external-dispatch-'))
const authorization_file = path.join(folder, 'authorization')
writeFileSync(authorization_file, 'ApiKey s3cr3t-of-the-system\n', { mode: 0o600 })
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`
const target = { name: 'cases', url, operator: 'external_dispatch', authorization_file }
const site = setUpIngestSite({
  trusted_networks: ['127.0.0.1'],
  http_targets: [
    target,
    { ...target, name: 'tests', operator: 'test_call' },
    { ...target, name: 'foreign', tenant_id: 'tenant-b' },
    { ...target, name: 'high', classification: 'SECRET' },
    { ...target, name: 'down', url: 'http://127.0.0.1:1/api' },
  ],
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const payload = { title: 'é', b: 2, a: [1, null] }
const canonical = '{"a":[1,null],"b":2,"title":"é"}'
const service = () => site().as({ subject: 'dispatcher', roles: ['service'] })

async function dispatch(
  effect_id: string,
  params: Readonly<Record<string, unknown>>,
  at: object = { system: 'cases' },
) {
  const { token } = await service()
  const port = Number(new URL(site().url('ingest')).port)
  const sent = {
    ...{ effect_id, edition_id: 'ed_1', effect_type: 'external_dispatch', target: at },
    ...{ payload: params, payload_hash: canonicalDigest(params), run_on_deploy: true },
  }
  const { structuredContent } = await callTool(port, 'effect_dispatch', sent, { token })
  const { external_reference: uid, dag_id } = structuredContent as { external_reference: string; dag_id: string }
  const sender = await service()
  const effect = await waitUntil(async () => {
    const shown = await sender.ok(get, { uid })
    return shown.status !== 'pending_validation' && shown
  })
  return { uid, dag_id, effect }
}

/** Lets the time of the site go on, for further tries. */
async function waitForEnd(dag_id: string) {
  const sender = await service()
  const state = await waitUntil(async () => {
    site().clock.advance(10_000)
    site().wakeWorker('ingest', 'jobs')
    const run = await sender.ok(getRun, { dag_id, dag_run_id: 'deploy__1' })
    return (run.state === 'success' || run.state === 'failed') && run.state
  })
  const { items } = await sender.ok(errors, { dag_id, dag_run_id: 'deploy__1' })
  return { state, log: items[0]?.log }
}

async function readAcknowledgement(uid: string) {
  const datasets = path.join(site().folder.data, 'ingest', 'datasets', site().tenant)
  const [of = ''] = readdirSync(datasets).filter((name) => name.startsWith(`${uid}.`))
  const [row = []] = await readLanded(path.join(datasets, of, 'external_dispatch_1'))
  return row
}

async function readSentLog(uid: string): Promise<string> {
  const log = await site()
    .store('ingest')
    .get(taskLogs, taskLogId(`${uid}.deploy__1`, 'external_dispatch_1'))
  return log?.value.text ?? ''
}

test('a dispatched effect hands its payload over once, with digest and key, and keeps the acknowledgement', async () => {
  const params = {
    target: 'cases',
    path: 'v1/case',
    payload,
    payload_hash: canonicalDigest(payload),
    reference: 'case.id',
  }
  const { uid, dag_id } = await dispatch('eff_1', params)
  expect(await waitForEnd(dag_id)).toEqual({ state: 'success', log: undefined })
  const sha256 = createHash('sha256').update(canonical).digest()
  expect(received.splice(0)).toEqual([
    {
      ...{ url: '/api/v1/case', method: 'POST', body: canonical },
      headers: expect.objectContaining({
        authorization: 'ApiKey s3cr3t-of-the-system',
        'content-type': 'application/json',
        'content-digest': `sha-256=:${sha256.toString('base64')}:`,
        'idempotency-key': expect.stringMatching(/^[0-9a-f]{64}$/),
      }),
    },
  ])
  const row = await readAcknowledgement(uid)
  expect(row.slice(0, 5)).toEqual([
    ...['POST /v1/case', '201', 'false', 'application/json'],
    '{"case":{"id":"C-17"},"code":"answer","detail":"is 201"}',
  ])
  const { tasks } = await (await service()).ok(runStatus, { dag_id, dag_run_id: 'deploy__1' })
  expect(tasks[0]?.lineage?.inputs).toEqual([{ name: 'cases', bytes: 33, digest: sha256.toString('hex'), rows: 1 }])
  expect(await readSentLog(uid)).toContain(`acknowledged 201 the payload of SHA-256 ${sha256.toString('hex')}`)
  expect(await readSentLog(uid)).toContain('its reference there: "C-17"')
  const events = await readAuditEvents(site(), 'ingest')
  expect(events.find(({ action }) => action === 'ingest.http-target.request')).toMatchObject({
    target: `${uid}.deploy__1`,
    detail: { target: 'cases', operator: 'external_dispatch', task: 'external_dispatch_1' },
  })
})

test('a payload that was decided upon goes as it is to the target that the decision names', async () => {
  const { dag_id } = await dispatch('eff_decided', payload, { name: 'cases', path: 'v1/case', kind: 'system' })
  expect(await waitForEnd(dag_id)).toMatchObject({ state: 'success' })
  expect(received.splice(0)).toMatchObject([{ url: '/api/v1/case', body: canonical }])
})

test('operators in a payload that was decided upon are data, and nothing of them runs', async () => {
  const operators = [{ name: 'external_dispatch', params: { target: 'cases', path: 'v1/other', payload } }]
  const { dag_id } = await dispatch('eff_operators', { operators }, { name: 'cases', path: 'v1/case' })
  expect(await waitForEnd(dag_id)).toMatchObject({ state: 'success' })
  const body = canonicalJson({ operators })
  expect(received.splice(0)).toMatchObject([{ url: '/api/v1/case', body }])
})

test('what is not acknowledged is sent again under the same key, as often as the task says', async () => {
  answers.set('/api/busy', [503, 429, 200])
  const { dag_id } = await dispatch('eff_2', { target: 'cases', path: 'busy', payload })
  expect(await waitForEnd(dag_id)).toMatchObject({ state: 'success' })
  const keys = received.splice(0).map(({ headers }) => headers['idempotency-key'])
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  answers.set('/api/broken', [500])
  const broken = await dispatch('eff_3', { target: 'cases', path: 'broken', payload })
  expect(await waitForEnd(broken.dag_id)).toEqual({
    state: 'failed',
    log: 'POST /broken: the target did not acknowledge it: 500 (answer: is 500)\n',
  })
  const other = received.splice(0).map(({ headers }) => headers['idempotency-key'])
  expect(other).toHaveLength(3)
  expect(keys).not.toContain(other[0])
})

test.each([400, 401, 404, 422, 302, 307])('a target that answers %i receives it once', async (status) => {
  answers.set(`/api/s${status}`, [status])
  const { dag_id } = await dispatch(`eff_s${status}`, { target: 'cases', path: `s${status}`, payload, method: 'PUT' })
  expect(await waitForEnd(dag_id)).toMatchObject({ state: 'failed', log: expect.stringContaining(`: ${status}`) })
  expect(received.splice(0).map(({ url: at, method }) => [at, method])).toEqual([[`/api/s${status}`, 'PUT']])
})

test('an effect that may not be sent is rejected, and nothing leaves', async () => {
  const cases: readonly (readonly [params: Readonly<Record<string, unknown>>, reason: string])[] = [
    [{ target: 'unknown', payload }, 'no target unknown for external_dispatch'],
    [{ target: 'tests', payload }, 'no target tests for external_dispatch'],
    [{ target: 'foreign', payload }, 'no target foreign'],
    [{ target: 'cases' }, 'payload'],
    [{ target: 'cases', payload, path: '../private' }, 'path'],
    [{ target: 'cases', payload, payload_hash: '0'.repeat(64) }, 'payload_hash is not the SHA-256'],
  ]
  for (const [at, [params, reason]] of cases.entries()) {
    const { effect } = await dispatch(`eff_rejected_${at}`, params)
    expect([effect.status, `${effect.fault?.path}: ${effect.fault?.reason}`]).toEqual([
      'rejected',
      expect.stringContaining(reason),
    ])
  }
  const task = { name: 'send', operator: 'external_dispatch', params: { target: 'cases', payload } }
  const { fault } = await deployAndRun(site(), 'by_analyst', [task])
  expect(fault?.reason).toContain('needs the permission ingest:send or ingest:dispatch')
  expect(received).toEqual([])
})

test('of a target with a higher label than the run, nothing but the status is kept', async () => {
  const { uid, dag_id } = await dispatch('eff_upward', { target: 'high', payload, reference: 'case.id' })
  expect(await waitForEnd(dag_id)).toMatchObject({ state: 'success' })
  expect(received.splice(0)).toHaveLength(1)
  expect((await readAcknowledgement(uid)).slice(1, 5)).toEqual(['201', 'false', 'application/json', ''])
  expect(await readSentLog(uid)).toContain('its answer is not kept')
  expect(await readSentLog(uid)).not.toContain('C-17')
  answers.set('/api/refused', [422])
  const refused = await waitForEnd(
    (await dispatch('eff_upward_refused', { target: 'high', payload, path: 'refused' })).dag_id,
  )
  expect(refused).toMatchObject({ state: 'failed', log: expect.stringContaining('did not acknowledge it: 422') })
  expect(refused.log).not.toContain('is 422')
})

test('a target that does not answer fails the task without its address and its credential', async () => {
  const { dag_id } = await dispatch('eff_down', { target: 'down', payload })
  const { state, log = '' } = await waitForEnd(dag_id)
  expect([state, log]).toEqual(['failed', expect.stringContaining('the service did not answer')])
  expect(log).not.toMatch(/127\.0\.0\.1|s3cr3t/)
})
