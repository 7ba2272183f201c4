// Services that register with the gateway get their objects at the edge too, as long as they are registered.
import { expect, test } from 'vitest'
import { waitUntil } from '../../support/site/test-site.ts'
import { setUpServices, startGatewaySite, startService } from '../gateway/gateway-site.ts'

setUpServices()

test('a registered service has its objects at the edge until its registration ends', async () => {
  const platform = { roles: ['site', 'gateway', 'edge'] }
  const edge = { port: 0, http_port: 0 }
  const { site, register } = await startGatewaySite({}, { profile: { platform, edge } })
  const statusOf = async (at: string) => {
    site.wakeWorker('edge', 'follow-registry')
    return (await site.call('edge', 'GET', at)).status
  }
  try {
    const service = await startService({ name: 'weather', objects: ['forecast'] })
    expect(await statusOf('/api/v1/forecast/7')).toBe(503)
    expect((await register('svc:weather', 'weather', service.url, 60)).status).toBeLessThan(300)
    await waitUntil(async () => (await statusOf('/userspace/forecast/7')) === 200)
    expect(service.reads).toContain('GET /userspace/forecast/7')
    expect(await statusOf('/api/v1/signal')).toBe(503)
    site.clock.advance(61_000)
    await waitUntil(async () => (await statusOf('/api/v1/forecast/7')) === 503)
  } finally {
    await site.end()
  }
  expect(site.loggedErrors).toEqual([])
})
