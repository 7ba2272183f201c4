// The ingresses of registered services: what an ingress controller finds in them is what the pure function finds.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findIngressRoute } from '../../../../../test/support/routing/find-ingress-route.ts'
import { runToEnd } from '../../../../kernel/role/run-to-end.ts'
import { indexRoutes } from '../../find-route.ts'
import { routedServices } from '../../routed-services.ts'
import { buildRoutingTable, defaultRouting, type RegisteredOwner, type RoutingOptions } from '../../routing-table.ts'
import { renderIngresses } from './ingresses.ts'
import type { KubernetesObject } from './kubernetes-object.ts'
import { digestIngress, type ManagedIngress, renderManagedIngresses } from './managed-ingresses.ts'

const options = {
  ...{ namespace: 'platform', cluster_domain: 'cluster.local', site: 'alpha', ingress_class: 'traefik' },
  priority_annotation: 'traefik.ingress.kubernetes.io/router.priority',
}
const every = routedServices.map(({ name }) => name as string)

function render(
  registered: readonly RegisteredOwner[],
  more: Partial<RoutingOptions> = {},
  urls = new Map<string, string[]>(),
) {
  const found = new Map([
    ...registered.map(({ name }) => [name, [`http://${name}:8500`]] as [string, string[]]),
    ...urls,
  ])
  const served = new Set([...every, ...registered.map(({ name }) => name)])
  const rules = buildRoutingTable({ ...defaultRouting, registered, served, ...more })
  return { rules, managed: runToEnd(renderManagedIngresses(rules, registered, found, options)) }
}

const describe = ({ name, priority, paths, target }: ManagedIngress) =>
  `${name} ${priority} ${paths} ${'reason' in target ? 'unroutable' : target.backend}`

test('each service has one, direct at 100, or behind the gateway at 200', () => {
  const registered = [{ name: 'maps', objects: ['tile', 'layer'] }]
  expect(render(registered).managed.map(describe)).toEqual(['gateway-managed-maps-rest 100 4 maps:8500'])
  const { managed } = render(registered, { isGatewayInPath: true })
  expect(managed.map(describe)).toEqual(['gateway-managed-maps-rest 200 4 gateway:8001'])
})

test('objects with an owner in a chart are not among its paths; a service without others has no ingress', () => {
  const registered = [
    { name: 'maps', objects: ['signal', 'tile'] },
    { name: 'copy', objects: ['signal'] },
  ]
  for (const isGatewayInPath of [false, true])
    expect(render(registered, { isGatewayInPath }).managed.map(({ name, paths }) => [name, paths])).toEqual([
      ['gateway-managed-maps-rest', 2],
    ])
})

test('a service of the chart with further objects has one for those, to its own Service', () => {
  const registered = [{ name: 'intelligence-service', objects: ['signal', 'digest'] }]
  const { managed } = render(registered, {}, new Map([['intelligence-service', ['http://10.0.0.1:9']]]))
  expect(managed.map(describe)).toEqual(['gateway-managed-intelligence-service-rest 100 2 intelligence-service:8002'])
})

test('one outside of the cluster is unroutable, but behind the gateway', () => {
  const registered = [{ name: 'maps', objects: ['tile'] }]
  const urls = new Map([['maps', ['http://10.20.0.7:8000']]])
  expect(render(registered, {}, urls).managed.map(describe)).toEqual(['gateway-managed-maps-rest 100 2 unroutable'])
  expect(render(registered, { isGatewayInPath: true }, urls).managed.map(describe)).toEqual([
    'gateway-managed-maps-rest 200 2 gateway:8001',
  ])
  // Of several processes, one that is a Service suffices.
  urls.set('maps', ['http://10.20.0.7:8000', 'http://maps.platform.svc:8500'])
  expect(render(registered, {}, urls).managed.map(describe)).toEqual(['gateway-managed-maps-rest 100 2 maps:8500'])
})

test('without REST there are none', () =>
  expect(render([{ name: 'maps', objects: ['tile'] }], { hasRest: false }).managed).toEqual([]))

test('an edit of what the gateway decides changes the digest, and one of anything else does not', () => {
  const [ingress] = render([{ name: 'maps', objects: ['tile'] }]).managed
  const { object, sha256 } = (ingress as ManagedIngress).target as { object: KubernetesObject; sha256: string }
  const digest = (metadata: object, spec: object = {}) =>
    digestIngress(
      { metadata: { ...object.metadata, ...metadata }, spec: { ...(object.spec as object), ...spec } },
      options,
    )
  const { labels, annotations } = object.metadata
  expect(digest({})).toBe(sha256)
  expect(digest({ labels: { ...labels, more: 'x' }, annotations: { ...annotations, note: 'x' } })).toBe(sha256)
  for (const edited of [
    digest({}, { rules: [] }),
    digest({}, { ingressClassName: 'nginx' }),
    digest({}, { tls: [{ hosts: ['x'] }] }),
    digest({}, { defaultBackend: { service: { name: 'x', port: { number: 1 } } } }),
    digest({ annotations: {} }),
    digest({ labels: { ...labels, 'app.kubernetes.io/name': 'other' } }),
  ])
    expect(edited).not.toBe(sha256)
})

test('without a class in the profile, that of the cluster is not the gateway’s', () => {
  const digest = (ingressClassName?: string) =>
    digestIngress(
      { metadata: {}, spec: { rules: [], ...(ingressClassName === undefined ? {} : { ingressClassName }) } },
      { ...options, ingress_class: undefined },
    )
  expect(digest('default')).toBe(digest())
})

const object = fc.constantFrom('signal', 'tile', 'layer', 'chat', 'well', 'status')
const registries = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('maps', 'tides', 'intelligence-service', 'alerting-service'),
    objects: fc.uniqueArray(object, { maxLength: 4 }),
  }),
  { selector: ({ name }) => name, maxLength: 4 },
)

test('static and managed ingresses together lead where the pure function does, for any registry', () => {
  fc.assert(
    fc.property(
      registries,
      fc.boolean(),
      object,
      fc.constantFrom('/api/v1/', '/userspace/'),
      (registered, inPath, noun, format) => {
        const { rules, managed } = render(registered, { isGatewayInPath: inPath })
        // As a chart renders it, without registered services.
        const chart = buildRoutingTable({ ...defaultRouting, served: new Set(every), isGatewayInPath: inPath })
        const objects = [
          ...renderIngresses(chart, options),
          ...managed.flatMap(({ target }) => ('object' in target ? [target.object] : [])),
        ]
        const path = `${format}${noun}/7`
        const found = findIngressRoute(objects, path, options.priority_annotation)
        const rule = indexRoutes(rules)('any.example', path)
        expect(found).toEqual({ service: rule?.service, priority: rule?.priority })
      },
    ),
    { numRuns: 1_000 },
  )
})
