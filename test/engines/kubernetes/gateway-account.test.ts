// The rights of the gateway's account in a real cluster are exactly those of document 000, part C; one process writes with
// it, and neither a thousand services nor a token that is replaced leave anything behind.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test as plainTest } from 'vitest'
import { jobLeases } from '../../../daemon/kernel/job/lease.ts'
import { list } from '../../../daemon/roles/gateway/managed-ingress/list.ts'
import { services } from '../../../daemon/roles/gateway/registered-service/model.ts'
import { indexRoutes } from '../../../daemon/shared/routing/find-route.ts'
import { buildRoutingTable, defaultRouting } from '../../../daemon/shared/routing/routing-table.ts'
import {
  type GatewayCluster,
  gatewayCluster,
  gatewayProfile,
  ingresses_path,
  namespace,
  storedService,
} from '../../support/engines/gateway-cluster.ts'
import { kubeApiserverRequirement } from '../../support/engines/kube-apiserver.ts'
import { findIngressRoute } from '../../support/routing/find-ingress-route.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'

const test = whenPresent(kubeApiserverRequirement, plainTest)
const hour_ms = 3_600_000

let cluster: GatewayCluster
let site: TestSite
const events: string[] = []
beforeAll(async () => {
  if (!kubeApiserverRequirement.isPresent) return
  cluster = await gatewayCluster()
  site = await startTestSite({
    profile: gatewayProfile(cluster),
    onEvent: (event) => void (event.startsWith('gateway.') && events.push(event)),
  })
})
afterAll(async () => {
  await site?.end()
  await cluster?.end()
  expect(site?.loggedErrors ?? []).toEqual([])
})

function seed(name: string, objects: readonly string[], life_ms = hour_ms) {
  const ends_ts = site.clock.now() + life_ms
  return site.store('gateway').create(services, name, storedService(name, `http://${name}:8500`, objects, ends_ts))
}

const find = (service: string) => cluster.find(`gateway-managed-${service}-rest`)
const stateOf = async (service: string) => {
  const { items } = await (await site.as({ subject: 'reader', roles: ['auditor'] })).ok(list, { limit: 500 })
  return items.find((each) => each.service === service)
}

test('the account has seven verbs on ingresses of its namespace, and what every account has', async () => {
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  const rulesIn = async (where: string) => {
    const requested = { ...review, spec: { namespace: where } }
    const { status, body } = await cluster.as(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      requested,
    )
    expect(status).toBe(201)
    const { resourceRules } = body.status as {
      resourceRules: { verbs: string[]; apiGroups: string[]; resources: string[] }[]
    }
    return resourceRules
      .filter(({ apiGroups }) => !apiGroups.every((group) => /^auth(entication|orization)\.k8s\.io$/.test(group)))
      .map(({ verbs, apiGroups, resources }) => [apiGroups, resources, verbs.toSorted()])
  }
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']
  expect(await rulesIn(namespace)).toEqual([[['networking.k8s.io'], ['ingresses'], verbs]])
  expect(await rulesIn('default')).toEqual([])
  const elsewhere = ingresses_path.replace(`/${namespace}/`, '/default/')
  for (const [method, at] of [
    ['GET', `/api/v1/namespaces/${namespace}/secrets`],
    ['POST', `/api/v1/namespaces/${namespace}/services`],
    ['GET', elsewhere],
    ['POST', elsewhere],
    ['GET', '/apis/networking.k8s.io/v1/ingresses'],
    ['PUT', `${ingresses_path}/x/status`],
  ] as const)
    expect([at, (await cluster.as(method, at, method === 'GET' ? undefined : {})).status]).toEqual([at, 403])
})

test('while another process has the lease nothing is written; once that has run out, this one writes', async () => {
  await seed('first', ['first'])
  await waitUntil(() => find('first'))
  const key = 'managed-ingresses'
  const until_ts = site.clock.now() + 15_000
  await site.store('gateway').update(jobLeases, key, ({ value }) => ({
    next: { ...value, holder: 'other', until_ts },
    answer: undefined,
  }))
  await waitUntil(() => events.includes('gateway.ingress.standby'))
  await seed('second', ['second'])
  const began = performance.now()
  await waitUntil(() => performance.now() - began > 3_000)
  expect([await find('second'), await stateOf('second')]).toEqual([undefined, undefined])
  expect((await site.store('gateway').get(jobLeases, key))?.value.holder).toBe('other')
  site.clock.advance(15_000)
  await waitUntil(() => find('second'))
  expect(events.filter((event) => event === 'gateway.ingress.writer')).toHaveLength(2)
})

test('a token that was replaced is read again; one that is refused is reported without its text', async () => {
  const file = path.join(cluster.folder, 'token')
  writeFileSync(file, 'not-a-token-of-this-cluster\n')
  await seed('third', ['third'])
  const pending = await waitUntil(async () => {
    const found = await stateOf('third')
    return found?.reason === undefined ? undefined : found
  })
  expect(pending).toMatchObject({ state: 'pending', reason: expect.stringMatching(/^the API server answered 401/) })
  expect(pending.reason).not.toContain('not-a-token')
  writeFileSync(file, `${cluster.token}\n`)
  await waitUntil(async () => (await stateOf('third'))?.state === 'written')
  expect(await find('third')).toBeDefined()
})

test('a thousand services: each has its ingress, which leads where the pure function does, and none is written twice', async () => {
  const names = Array.from({ length: 997 }, (_, at) => `service-${at}`)
  const began = performance.now()
  for (const name of names) await seed(name, [`${name}-a`, `${name}-b`])
  const all = await waitUntil(async () => {
    const found = await cluster.list()
    return found.length === 1_000 && found
  }, 120_000)
  const written_s = (performance.now() - began) / 1_000
  const registered = names.map((name) => ({ name, objects: [`${name}-a`, `${name}-b`] }))
  const rules = buildRoutingTable({ ...defaultRouting, registered, served: new Set(names) })
  const findRoute = indexRoutes(rules)
  for (const { objects } of registered)
    for (const object of objects) {
      const rule = findRoute('any.example', `/userspace/${object}/7`)
      const annotation = 'traefik.ingress.kubernetes.io/router.priority'
      const own = all.filter(({ metadata }) => metadata.name === rule?.ingress)
      expect(findIngressRoute(own, `/userspace/${object}/7`, annotation)).toEqual({
        ...{ service: rule?.service, priority: rule?.priority },
      })
    }
  // The event comes after the answer of the API server.
  const created = () => events.filter((event) => event === 'gateway.ingress.created')
  await waitUntil(() => created().length >= 1_000)
  await waitUntil(async () => (await stateOf('service-0'))?.state === 'written')
  expect(created()).toHaveLength(1_000)
  expect(events.filter((event) => /ingress\.(patched|repaired|conflict)/.test(event))).toEqual([])
  const versions = new Map(all.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
  site.clock.advance(hour_ms)
  const gone = performance.now()
  await waitUntil(async () => (await cluster.list()).length === 0, 120_000)
  const removed_s = (performance.now() - gone) / 1_000
  expect(versions.size).toBe(1_000)
  expect(Math.max(written_s, removed_s)).toBeLessThan(100)
  console.info(`1,000 ingresses: written in ${written_s.toFixed(1)} s, removed in ${removed_s.toFixed(1)} s`)
}, 300_000)
