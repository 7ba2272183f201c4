// Which URLs are Services of the namespace, so that an Ingress can lead to them.
import { expect, test } from 'vitest'
import { findIngressBackend } from './service-address.ts'

const place = { namespace: 'platform', cluster_domain: 'cluster.local' }
const find = (url: string) => {
  const found = findIngressBackend(url, place)
  return 'reason' in found ? found.reason : `${found.name}:${found.port}`
}

test.each([
  ['http://maps:8500', 'maps:8500'],
  ['http://maps.platform:8500', 'maps:8500'],
  ['http://maps.platform.svc', 'maps:80'],
  ['https://maps.platform.svc.cluster.local', 'maps:443'],
  ['https://maps.platform.svc.cluster.local.:8443', 'maps:8443'],
  ['http://MAPS.platform.svc:8500', 'maps:8500'],
  // Document 000: `http://<service>.cluster.local:<port>`.
  ['http://maps.cluster.local:8500', 'maps:8500'],
])('%s is %s', (url, backend) => expect(find(url)).toBe(backend))

test.each([
  'http://10.20.0.7:8000',
  'http://[fd00::7]:8000',
  'http://127.0.0.1',
  'http://localhost:8000',
  'https://maps.example.org',
  'http://maps.platform.svc.example.org',
  'http://a.maps.platform.svc',
  'http://7maps:8500',
])('%s is not a Service', (url) => expect(find(url)).toMatch(/is not the name of a Service of namespace platform/))

test.each(['http://maps.other.svc:8500', 'http://maps.other.svc.cluster.local'])('%s is in another namespace', (url) =>
  expect(find(url)).toBe('its URL is a Service of namespace other; an Ingress reaches those of platform alone'),
)

test('another domain of the cluster', () => {
  const other = { namespace: 'platform', cluster_domain: 'k8s.example' }
  expect(findIngressBackend('http://maps.platform.svc.k8s.example:1', other)).toEqual({ name: 'maps', port: 1 })
  expect(findIngressBackend('http://maps.platform.svc.cluster.local:1', other)).toHaveProperty('reason')
})
