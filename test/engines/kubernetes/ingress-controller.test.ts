// A real ingress controller reads the rendered objects and the ingresses of the gateway: each request reaches the service of its rule.
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test as plainTest } from 'vitest'
import { parse, stringify } from 'yaml'
import { services } from '../../../daemon/roles/gateway/registered-service/model.ts'
import { indexRoutes } from '../../../daemon/shared/routing/find-route.ts'
import { findServicePort, renderIngresses } from '../../../daemon/shared/routing/render/kubernetes/ingresses.ts'
import type { KubernetesObject } from '../../../daemon/shared/routing/render/kubernetes/kubernetes-object.ts'
import { renderAbsentService } from '../../../daemon/shared/routing/render/kubernetes/workloads.ts'
import { agentspace_host, routedServices } from '../../../daemon/shared/routing/routed-services.ts'
import { buildRoutingTable, defaultRouting, type RoutingRule } from '../../../daemon/shared/routing/routing-table.ts'
import { kubernetesOptions } from '../../support/engines/cluster-tables.ts'
import {
  type GatewayCluster,
  gatewayCluster,
  gatewayProfile,
  ingresses_path,
  namespace,
  storedService,
} from '../../support/engines/gateway-cluster.ts'
import { kubeApiserverRequirement } from '../../support/engines/kube-apiserver.ts'
import { type NamedBackends, sendRequest, startNamedBackends } from '../../support/engines/named-backends.ts'
import { type IngressController, startTraefik, traefikRequirement } from '../../support/engines/traefik.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

const isPresent = kubeApiserverRequirement.isPresent && traefikRequirement.isPresent
const test = whenPresent({ ...traefikRequirement, isPresent }, plainTest)

const registered = [{ name: 'maps', objects: ['tile', 'layer'] }]
/** Without the data platform the catch-all has no backend, and without alerting some objects have none. */
const served = ['gateway', 'intelligence-service', 'resolution-service', 'consensus-service', 'public-proxy', 'maps']
const ports = new Map([...routedServices.map(({ name }) => [name, findServicePort(name)] as const), ['maps', 8_500]])
/** A Service of the cluster is an address of this machine, since no pods run. */
const hostOf = (name: string) => `127.0.9.${served.indexOf(name) + 1}`

let cluster: GatewayCluster
let backends: NamedBackends
let controller: IngressController
let site: TestSite
beforeAll(async () => {
  if (!isPresent) return
  backends = await startNamedBackends(served, (name) => ({ host: hostOf(name), port: ports.get(name) ?? 0 }))
  cluster = await gatewayCluster()
  const spec = { controller: 'traefik.io/ingress-controller' }
  const ingressClass = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name: 'traefik' }, spec }
  await create('/apis/networking.k8s.io/v1/ingressclasses', ingressClass)
  for (const name of ports.keys()) await create(`/api/v1/namespaces/${namespace}/services`, describeService(name))
  site = await startTestSite({ profile: gatewayProfile(cluster) })
  const hour_ms = 3_600_000
  const stored = storedService('maps', 'http://maps:8500', ['tile', 'layer'], site.clock.now() + hour_ms)
  await site.store('gateway').create(services, 'maps', stored)
  controller = await startTraefik(cluster.api, namespace)
})
afterAll(async () => {
  await controller?.end()
  await site?.end()
  await cluster?.end()
  backends?.close()
})

async function create(at: string, body: object): Promise<void> {
  expect(await cluster.api.request('POST', at, body)).toMatchObject({ status: 201 })
}

function describeService(name: string): object {
  if (!served.includes(name)) return renderAbsentService(name, ports.get(name) ?? 0, kubernetesOptions)
  const spec = { type: 'ExternalName', externalName: hostOf(name), ports: [{ name: 'http', port: ports.get(name) }] }
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec }
}

/** As `kubectl apply`: those of the chart are replaced, those of the gateway stay. */
async function applyIngresses(rules: readonly RoutingRule[]): Promise<void> {
  const objects = renderIngresses(
    rules.filter(({ ingress }) => !ingress.startsWith('gateway-managed-')),
    kubernetesOptions,
  )
  for (const each of objects) await replace(each)
}

async function replace(object: KubernetesObject): Promise<void> {
  const at = `${ingresses_path}/${object.metadata.name}`
  const { status } = await cluster.api.request('PUT', at, object)
  if (status === 404) await create(ingresses_path, object)
  else expect(status).toBe(200)
}

const buildRules = (isGatewayInPath: boolean) =>
  buildRoutingTable({ ...defaultRouting, registered, served: new Set(served), isGatewayInPath })

/** Host and path of requests at, below and beside each prefix, and at the host of the tools where it has rules of its own alone. */
function listRequests(rules: readonly RoutingRule[]): readonly (readonly [string, string])[] {
  const prefixes = [...new Set(rules.flatMap(({ host, prefix }) => (host === undefined ? [prefix] : [])))]
  const paths = prefixes.flatMap((prefix) => [prefix, `${prefix}/7`, `${prefix}s`, `${prefix}/a/b?x=1`])
  return [
    ...[...new Set([...paths, '/', '/elsewhere'])].map((path) => ['site.example', path] as const),
    ...['/', '/mcp', '/tools/7'].map((path) => [agentspace_host, path] as const),
  ]
}

async function readService(host: string, target: string): Promise<string> {
  const { status, body } = await sendRequest(controller.port, { target, headers: { host } })
  return status === 200 ? (JSON.parse(body) as { service: string }).service : String(status)
}

test.each([false, true])('with the gateway in the path of REST: %s', async (isGatewayInPath) => {
  await site.stop()
  const profile = parse(readFileSync(site.folder.profile, 'utf8'))
  profile.ingress.rest_gateway = { enabled: isGatewayInPath }
  writeFileSync(site.folder.profile, stringify(profile))
  await site.start()
  const rules = buildRules(isGatewayInPath)
  await applyIngresses(rules)
  const findRoute = indexRoutes(rules)
  const requests = listRequests(rules)
  const expected = requests.map(([host, path]) => {
    const rule = findRoute(host, path.replace(/\?.*$/, ''))
    return [host, path, rule === undefined ? '404' : rule.isServed ? rule.service : '503']
  })
  const priority = isGatewayInPath ? '200' : '100'
  const annotation = kubernetesOptions.priority_annotation
  await waitUntil(
    async () => (await cluster.find('gateway-managed-maps-rest'))?.metadata.annotations[annotation] === priority,
  )
  const first = isGatewayInPath ? 'gateway' : 'maps'
  await waitUntil(async () => (await readService('site.example', '/api/v1/tile/7')) === first)
  const found = []
  for (const [host, path] of requests) found.push([host, path, await readService(host, path)])
  expect(found).toEqual(expected)
  expect(new Set(expected.map(([, , answer]) => answer)).size).toBeGreaterThan(5)
})
