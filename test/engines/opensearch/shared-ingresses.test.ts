// Two gateways of one site over one cluster of OpenSearch, in the path of REST and with ingresses in a real Kubernetes API server:
// both route to the same services, and one of them writes.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { end } from '../../../daemon/roles/gateway/registration/end.ts'
import { type GatewaySite, setUpServices, startGatewaySite, startService } from '../../roles/gateway/gateway-site.ts'
import { type GatewayCluster, gatewayCluster } from '../../support/engines/gateway-cluster.ts'
import { kubeApiserverRequirement } from '../../support/engines/kube-apiserver.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const isPresent = opensearchRequirement.isPresent && kubeApiserverRequirement.isPresent
const where = whenPresent(opensearchRequirement.isPresent ? kubeApiserverRequirement : opensearchRequirement)
setUpServices()
let server: OpenSearch | undefined
let cluster: GatewayCluster | undefined
let gateways: GatewaySite[] = []

beforeEach(async () => {
  if (!isPresent) return
  if (!server) {
    server = sharedOpenSearch()
    await server.start()
  }
  cluster ??= await gatewayCluster()
  const prefix = `ingresses-${randomUUID()}`
  const env = { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
  const profile = { ingress: { ...cluster.ingress, rest_gateway: { enabled: true } } }
  for (let at = 0; at < 2; at += 1) gateways.push(await startGatewaySite({}, { env, profile }))
  // The first requests of a new cluster may come too late for it.
  for (const { states } of gateways) await waitUntil(async () => (await states().catch(() => undefined)) !== undefined)
})
afterEach(async () => {
  const ending = gateways
  gateways = []
  for (const { site } of ending) await site.end()
  await cluster?.removeAll()
  // Each of them has an audit chain of its own here, under one name: their copies in the cluster meet. A cluster that is still
  // making their indexes may refuse a worker, which tries again.
  const errors = ending.flatMap(({ site }) => site.loggedErrors)
  expect(
    errors.filter((error) => !/copies of the audit chain|the document store cannot be used now/.test(error)),
  ).toEqual([])
})
afterAll(async () => {
  await cluster?.end()
  await server?.end()
})

/** The cluster may answer too late under load: a service tries again. */
async function register({ register }: GatewaySite, name: string, url: string, ttl_seconds = 300): Promise<void> {
  const answer = await waitUntil(async () => {
    const found = await register(`svc:${name}`, name, url, ttl_seconds)
    return found.status === 503 ? undefined : found
  })
  expect(answer).toMatchObject({ status: 200 })
}

async function statusOf({ site }: GatewaySite, object: string): Promise<number> {
  const token = await site.token({ subject: 'ann', roles: ['analyst'] })
  return (await site.call('gateway', 'GET', `/api/v1/${object}`, undefined, { token })).status
}
const waitForStatus = async (object: string, status: number) => {
  for (const gateway of gateways) await waitUntil(async () => (await statusOf(gateway, object)) === status)
}
const hasIngress = async (service: string) => (await cluster?.find(`gateway-managed-${service}-rest`)) !== undefined
const eventsOf = (event: string) => gateways.flatMap(({ events }) => events.filter((each) => each.startsWith(event)))

where('what is registered at one is routed by both, until it is ended at the other', async () => {
  const [one, other] = gateways as [GatewaySite, GatewaySite]
  const service = await startService({ name: 'maps', objects: ['tile'] })
  await register(one, 'maps', service.url)
  await waitForStatus('tile', 200)
  await waitUntil(() => hasIngress('maps'))
  expect((await (await other.as('svc:maps')).call(end, { name: 'maps' })).status).toBe(200)
  await waitForStatus('tile', 503)
  await waitUntil(async () => !(await hasIngress('maps')))
  expect([await one.states(), await other.states()]).toEqual([[], []])
  expect(eventsOf('gateway.ingress.created')).toHaveLength(1)
  expect(eventsOf('gateway.ingress.deleted')).toHaveLength(1)
  expect(eventsOf('gateway.registration.removed')).toHaveLength(1)
})

where('a registration that nobody renews ends at both, and its ingress with it', async () => {
  const [one, other] = gateways as [GatewaySite, GatewaySite]
  const brief = await startService({ name: 'brief', objects: ['moment'] })
  const lasting = await startService({ name: 'lasting', objects: ['century'] })
  await register(one, 'brief', brief.url, 10)
  await register(other, 'lasting', lasting.url, 600)
  await waitForStatus('moment', 200)
  await waitForStatus('century', 200)
  await waitUntil(async () => (await hasIngress('brief')) && (await hasIngress('lasting')))
  for (const { site } of gateways) site.clock.advance(11_000)
  await waitForStatus('moment', 503)
  await waitUntil(async () => !(await hasIngress('brief')))
  await waitForStatus('century', 200)
  expect(await hasIngress('lasting')).toBe(true)
  await waitUntil(() => eventsOf('gateway.registration.expired').length > 0)
  expect(eventsOf('gateway.registration.expired')).toHaveLength(1)
  expect([eventsOf('gateway.ingress.created').length, eventsOf('gateway.ingress.deleted').length]).toEqual([2, 1])
})

where('one of them writes; when it stops the other goes on', async () => {
  await waitUntil(() => eventsOf('gateway.ingress.writer').length > 0)
  const writes = ({ events }: GatewaySite) => events.some((event) => event.startsWith('gateway.ingress.writer'))
  const writer = gateways.find(writes) as GatewaySite
  const standby = gateways.find((each) => each !== writer) as GatewaySite
  const first = await startService({ name: 'first', objects: ['dawn'] })
  await register(standby, 'first', first.url, 3_600)
  await waitUntil(() => hasIngress('first'))
  expect(standby.events.filter((event) => /ingress\.(created|patched|deleted|writer)/.test(event))).toEqual([])
  await writer.site.stop()
  const second = await startService({ name: 'second', objects: ['dusk'] })
  await register(standby, 'second', second.url, 3_600)
  await waitUntil(() => hasIngress('second'))
  expect(standby.events.filter((event) => event.startsWith('gateway.ingress.created'))).toHaveLength(1)
  expect(await hasIngress('first')).toBe(true)
})
