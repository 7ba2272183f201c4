// Pools of services as routing changes: those that stay are left alone, the others follow their URLs.
import { expect, onTestFinished, test } from 'vitest'
import { coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { defaultUpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { defaultPoolLimits } from '../../../adapters/forward/http/upstream-pool.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { ServicePools } from './service-pools.ts'

test('a pool stays with its service, follows its URLs, and ends with it', () => {
  const clock = coarseClock(1_000)
  onTestFinished(() => clock.stop())
  const backends = (urls: Readonly<Record<string, readonly string[]>>) => new Map(Object.entries(urls))
  const pools = new ServicePools(
    {
      ...{ clock, limits: defaultUpstreamLimits, ca: undefined, ruleOf: () => addressRule(['127.0.0.0/8']) },
      pool: { ...defaultPoolLimits, probe_interval_ms: Number.POSITIVE_INFINITY },
    },
    backends({ maps: ['http://127.0.0.1:9101'], ports: ['http://127.0.0.1:9102'] }),
  )
  onTestFinished(() => pools.close())
  const membersOf = (service: string) =>
    pools.all
      .get(service)
      ?.members()
      .map(({ host, port }) => `${host}:${port}`)
  const [maps, ports] = [pools.all.get('maps'), pools.all.get('ports')]
  const moved = ['http://127.0.0.1:9103', 'http://127.0.0.1:9104']
  pools.replace(backends({ maps: ['http://127.0.0.1:9101'], ports: moved, tides: ['http://127.0.0.1:9105'] }))
  expect([pools.all.get('maps'), pools.all.get('ports')]).toEqual([maps, ports])
  expect([membersOf('maps'), membersOf('ports'), membersOf('tides')]).toEqual([
    ['127.0.0.1:9101'],
    ['127.0.0.1:9103', '127.0.0.1:9104'],
    ['127.0.0.1:9105'],
  ])
  pools.replace(backends({ tides: ['http://127.0.0.1:9105'] }))
  expect([...pools.all.keys()]).toEqual(['tides'])
  pools.replace(backends({ tides: ['http://127.0.0.1:9105'], maps: ['http://127.0.0.1:9101'] }))
  expect(membersOf('maps')).toEqual(['127.0.0.1:9101'])
  expect(pools.all.get('maps')).not.toBe(maps)
})
