// The chart of docs/kubernetes renders the same objects as the function: by the real helm, for any values.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test as plainTest } from 'vitest'
import { parseYaml } from '../../../adapters/host/yaml/yaml-document.ts'
import { renderKubernetes } from '../../../daemon/shared/routing/render/kubernetes/kubernetes.ts'
import { type RoutedService, routedServices } from '../../../daemon/shared/routing/routed-services.ts'
import { buildRoutingTable, defaultRouting } from '../../../daemon/shared/routing/routing-table.ts'
import { kubernetesOptions, separateRoles, workloadRole } from '../../support/engines/cluster-tables.ts'
import { createEngineFolder } from '../../support/engines/server-process.ts'
import { isOnPath, whenPresent } from '../../support/runner/requires.ts'

const helm = process.env.HELM ?? 'helm'
const isPresent = process.env.HELM !== undefined || isOnPath('helm')
const test = whenPresent({ isPresent, name: 'helm', hint: 'HELM names the program; .ci/run builds it' }, plainTest)

const chart = path.resolve(import.meta.dirname, '../../../docs/kubernetes')
const { folder, dispose } = createEngineFolder('helm')
afterAll(dispose)

const services: readonly RoutedService[] = routedServices

const some = fc.subarray(['siren', 'signal', 'chat', 'x_1'])
const releases = fc.record({
  roles: fc.subarray(services.flatMap(({ role }) => role ?? [])),
  served: fc.subarray(services.filter(({ role }) => role === undefined).map(({ name }) => name)),
  tls: fc.boolean(),
  role_certificates: fc.boolean(),
  max_pods: fc.constantFrom(1, 4),
  cache_max_mb: fc.constantFrom(0, 256),
  class_name: fc.constantFrom('', 'traefik'),
  hasRest: fc.constantFrom(true, true, true, false),
  rest_priority: fc.constantFrom(5, 100, 200),
  objects: fc.oneof(
    fc.constant({}),
    some.map((own) => ({ 'alerting-service': own, gateway: ['chat'] })),
  ),
  isGatewayInPath: fc.boolean(),
  hasGatewayAgentspace: fc.boolean(),
})
type ChartRelease = ReturnType<typeof releases.generate>['value']

function renderByHelm(release: ChartRelease): readonly unknown[] {
  const { roles, served, tls, role_certificates, max_pods, cache_max_mb, class_name, objects } = release
  const ingress = {
    ...{ class_name, agentspace: { enabled: release.hasGatewayAgentspace } },
    rest: { enabled: release.hasRest, priority: release.rest_priority, objects },
    rest_gateway: { enabled: release.isGatewayInPath },
  }
  const { image, namespace } = kubernetesOptions
  const file = path.join(folder, 'values.json')
  writeFileSync(file, JSON.stringify({ image, roles, served, tls, role_certificates, max_pods, cache_max_mb, ingress }))
  const args = ['template', 'platform', chart, '--namespace', namespace, '--values', file]
  const text = execFileSync(helm, args, { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder } })
  const documents = text.split(/^---\n/m).map((each) => parseYaml(each))
  return documents.flatMap((each) => ('value' in each ? (each.value ?? []) : [each.faults]))
}

function renderByFunction(release: ChartRelease): readonly unknown[] {
  const { roles, tls, role_certificates, max_pods, cache_max_mb, class_name, served: others, ...routing } = release
  const own = services.filter(({ role }) => role !== undefined && roles.includes(role))
  const served = new Set([...own.map(({ name }) => name), ...others])
  const shared = own.map((service) => workloadRole(service, { hasTls: tls, max_pods }))
  const workloads = (role_certificates ? separateRoles(own, tls) : shared).map((workload) => ({
    ...workload,
    extra_memory_mb: workload.role === 'proxy' ? cache_max_mb : 0,
  }))
  const options = { ...kubernetesOptions, ingress_class: class_name || undefined }
  return renderKubernetes(buildRoutingTable({ ...defaultRouting, ...routing, served }), workloads, options)
}

const byName = (objects: readonly unknown[]) =>
  Object.fromEntries(
    (objects as { kind: string; metadata: { name: string } }[]).map((each) => [
      `${each.kind} ${each.metadata.name}`,
      each,
    ]),
  )

test.each(fc.sample(releases, { seed: 20_261_128, numRuns: 25 }))('values %#: the same objects', (release) => {
  const [chartObjects, objects] = [renderByHelm(release), renderByFunction(release)]
  expect(byName(chartObjects)).toEqual(byName(objects))
  expect(chartObjects.length).toBe(objects.length)
})
