// Two gateways of one site over one cluster: they see the same services, and give each object one owner.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { type GatewaySite, setUpServices, startGatewaySite, startService } from '../../roles/gateway/gateway-site.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const where = whenPresent(opensearchRequirement)
setUpServices()
let server: OpenSearch
const gateways: GatewaySite[] = []

beforeAll(async () => {
  if (!opensearchRequirement.isPresent) return
  server = sharedOpenSearch()
  await server.start()
  const prefix = `registry-${randomUUID()}`
  const env = { SEARCH_HOST: server.url, SEARCH_INDEX_PREFIX: prefix, SEARCH_REPLICAS: '0', SEARCH_TIMEOUT: '10' }
  for (let at = 0; at < 2; at += 1) gateways.push(await startGatewaySite({}, { env }))
})
afterAll(async () => {
  for (const { site } of gateways) await site.end()
  await server?.end()
  // Each of them has an audit chain of its own here, under one name: their copies in the cluster meet. A cluster that is still
  // making their indexes may refuse a worker, which tries again.
  const errors = gateways.flatMap(({ site }) => site.loggedErrors)
  expect(
    errors.filter((error) => !/copies of the audit chain|the document store cannot be used now/.test(error)),
  ).toEqual([])
})

where('what one registers the other lists, routes and renews', async () => {
  const [one, other] = gateways as [GatewaySite, GatewaySite]
  const service = await startService({ name: 'shared', objects: ['common'] })
  // A cluster under load may answer too late at first: a service tries again.
  const registered = await waitUntil(async () => {
    const answer = await one.register('svc:shared', 'shared', service.url)
    return answer.status === 503 ? undefined : answer
  })
  expect(registered).toMatchObject({ status: 200, value: { state: 'live' } })
  // The cluster refuses searches until the shards of a new index have started.
  await waitUntil(async () => (await other.states().catch((): string[] => [])).includes('shared live'))
  expect(await other.ownerOf('common')).toBe('shared')
  expect((await other.register('svc:shared', 'shared', service.url)).value).toMatchObject({ outcome: 'renewed' })
  expect((await other.register('svc:mallory', 'shared', service.url)).problem).toMatchObject({ status: 409 })
})

where('of registrations at both at once that share objects, one has them all', async () => {
  for (let round = 0; round < 10; round += 1) {
    const objects = [1, 2, 3].map((part) => `raced-${round}-${part}`)
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, at) => {
        const name = `racer-${round}-${at}`
        const service = await startService({ name, objects: at % 3 ? objects : [`a-${name}`, ...objects] })
        return await (gateways[at % 2] as GatewaySite).register(`svc:${name}`, name, service.url)
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
  }
})

where('of registrations of one name at both at once, one subject has it', async () => {
  for (let round = 0; round < 10; round += 1) {
    const service = await startService({ name: `contested-${round}`, objects: [] })
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        (gateways[at % 2] as GatewaySite).register(`svc:${at}`, `contested-${round}`, service.url),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  }
})

where('one of them ends a registration that nobody renews', async () => {
  const [one] = gateways as [GatewaySite]
  const service = await startService({ name: 'brief', objects: ['moment'] })
  await one.register('svc:brief', 'brief', service.url, 10)
  await waitUntil(async () => (await one.states()).includes('brief live'))
  for (const { site } of gateways) site.clock.advance(10_000)
  for (const { site } of gateways) site.wakeWorker('gateway', 'expire')
  for (const { states } of gateways)
    await waitUntil(async () => (await states()).every((each) => !each.startsWith('brief')))
  const ends = gateways.flatMap(({ events }) => events.filter((event) => /expired.*"brief"/.test(event)))
  expect(ends).toHaveLength(1)
  const next = await startService({ name: 'next', objects: ['moment'] })
  expect((await one.register('svc:next', 'next', next.url)).status).toBe(200)
})
