// The trace policy of a role: of its TCP listener alone, and not of what every role serves.
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { roleSocketFile } from '../../daemon/boot/storage/site-folder.ts'
import { runCommand } from '../support/command/run-command.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { startSingleClusterSite } from '../support/site/single-cluster-site.ts'
import { startTestSite, waitUntil } from '../support/site/test-site.ts'
import { createCarrier } from '../transport/coalition/hub-sites.ts'
import { startTestHub } from '../transport/coalition/test-hub.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const sessions = '/api/v2/consensus/session'

test('a role that requires traces refuses requests without one, and stays observable', async () => {
  const world = await startTestSite({ env: { CONSENSUS_TRACE_MODE: 'true', CONSENSUS_TRACE_HEADER: 'x-trace' } })
  onTestFinished(() => world.end())
  const token = await world.token({ roles: ['operator'] })
  const status = async (at: string, headers: Record<string, string> = {}) =>
    (await world.call('consensus', 'GET', at, undefined, { token, headers })).status
  expect(await status(sessions)).toBe(400)
  expect(await status(sessions, { traceparent })).toBe(400)
  expect(await status(sessions, { 'x-trace': traceparent })).toBe(200)
  for (const at of ['/health', '/api/v2/health', '/service-info', '/metrics', '/openapi.json'])
    expect([at, await status(at)]).toEqual([at, 200])
  const socket = `unix:${roleSocketFile(world.folder, 'consensus')}`
  expect((await sendHttpRequest(socket, 'GET', sessions, undefined, { token })).status).toBe(200)
  expect((await world.call('site', 'GET', '/api/v2/site/channel', undefined, { token })).status).toBe(200)
})

test('of what every role serves, jobs, backups and the audit log need a trace', async () => {
  const world = await startTestSite({ env: { SITE_TRACE_MODE: 'require' } })
  onTestFinished(() => world.end())
  const token = await world.token({ roles: ['admin'] })
  const requests = [
    ['GET', '/api/v2/audit'],
    ['GET', '/api/v2/job/backup'],
    ['GET', '/api/v2/job/backup/any'],
    ['DELETE', '/api/v2/job/backup/any'],
    ['POST', '/api/v2/backup'],
  ] as const
  for (const [method, at] of requests) {
    const status = async (headers: Record<string, string>) =>
      (await world.call('site', method, at, method === 'POST' ? {} : undefined, { token, headers })).status
    expect([method, at, await status({})]).toEqual([method, at, 400])
    expect(await status({ traceparent })).not.toBe(400)
  }
})

describe('a role that requires traces serves the clients of this program', () => {
  test.each([
    ['a command', ['consensus', 'list']],
    ['the tools of a role', ['tools', 'list', '--role', 'consensus']],
  ])('%s', async (_, words) => {
    const site = await startSingleClusterSite({ consensus: { port: 0, trace_mode: 'require' } })
    onTestFinished(() => site.close())
    const env = { PLATFORM_SITE: path.dirname(site.folder.profile) }
    const url = words.includes('--role') ? [] : ['--url', `http://127.0.0.1:${site.port('consensus')}`]
    expect(await runCommand([...words, ...url], { env })).toMatchObject({ exit: 0, stderr: '' })
  })

  test('a node of a coalition', async () => {
    const hub = await startTestHub({ trace_mode: 'require' })
    const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const carrier = createCarrier(hub.endpoint('alpha'), 'alpha', [], silent)
    onTestFinished(async () => {
      await carrier.stop()
      await hub.close()
    })
    await carrier.start(
      async () => [],
      async () => undefined,
    )
    await waitUntil(() => hub.isRegistered('alpha'))
  })
})

test.each([
  'content-length',
  'transfer-encoding',
  'authorization',
  'x-content-type-options',
  'cache-control',
  'tracestate',
  '',
])('the trace of a role cannot take the place of the header "%s"', async (trace_header) => {
  const starting = startTestSite({ profile: { consensus: { trace_header } } })
  await expect(starting).rejects.toMatchObject({
    problems: [{ path: 'consensus.trace_header', message: expect.stringContaining('x-trace-id') }],
  })
})
