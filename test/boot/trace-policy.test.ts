// The trace policy of a role: of its TCP listener alone, and not of what every role serves.
import { expect, onTestFinished, test } from 'vitest'
import { roleSocketFile } from '../../daemon/boot/storage/site-folder.ts'
import { sendHttpRequest } from '../support/http/send-http-request.ts'
import { startTestSite } from '../support/site/test-site.ts'

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
