// Parts that the executable loads on demand are in it, and work: the tools of AI clients, traces for a collector.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OtlpReceiver, startOtlpReceiver } from '../support/http/otlp-receiver.ts'
import { callTool, openMcpSession, postMcp, sendMcpRequest } from '../support/mcp/mcp-client.ts'
import { createPackagedSite, type PackagedSite } from '../support/site/packaged-site.ts'

let site: PackagedSite
let collector: OtlpReceiver
let token: string
beforeAll(async () => {
  site = createPackagedSite('single-cluster')
  collector = await startOtlpReceiver()
  const minted = site.run(['token', 'mint', '--subject', 'ada', '--roles', 'admin', '--json'])
  token = (JSON.parse(minted.stdout) as { token: string }).token
})
afterAll(async () => {
  site?.remove()
  await collector?.close()
})

test('lists and calls tools in both kinds of revision, and traces the calls as spans', async () => {
  const served = await site.serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '600000' })
  const port = served.ports.consensus ?? 0
  const { headers } = await openMcpSession(port, token)
  const listed = [
    await postMcp(port, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { token, headers }),
    await sendMcpRequest(port, 'tools/list', {}, { token }),
  ]
  const names = listed.map(({ json }) =>
    (json as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name),
  )
  expect(names[0]).toContain('consensus_session_create')
  expect(names[1]).toEqual(names[0])
  const policy = { m: 1, n: 1 }
  const input = { lens_id: 'l', lens_version: '1', policy, classification: 'UNCLASSIFIED' }
  const { structuredContent } = await callTool(port, 'consensus_session_create', input, { token })
  expect(structuredContent).toMatchObject({ state: 'PROPOSED' })
  expect(collector.spans).toEqual([])
  expect(await served.stop()).toBe(0)
  const span = collector.spans.find(({ name }) => name === 'consensus.session.create')
  expect(span).toMatchObject({
    attributes: { 'http.route': '/agentspace', 'http.response.status_code': 201 },
    resource: { 'service.name': 'platform', 'service.namespace': 'alpha' },
  })
})

test('a collector that never answers keeps no process from ending', async () => {
  collector.respondWith('hang')
  const served = await site.serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PLATFORM_DRAIN_MS: '500' })
  await sendMcpRequest(served.ports.consensus ?? 0, 'tools/list', {}, { token })
  const began = performance.now()
  expect(await served.stop()).toBe(0)
  // Half a second for spans, and at most one pause before an attempt that finds the way cut off.
  expect(performance.now() - began).toBeLessThan(9_000)
})
