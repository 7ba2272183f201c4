// A site with the gateway, and services whose service-info a test decides.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { list } from '../../../daemon/roles/gateway/registered-service/list.ts'
import { register } from '../../../daemon/roles/gateway/registration/register.ts'
import { list as routeList } from '../../../daemon/roles/gateway/route/list.ts'
import type { CheckedClient, CheckedResponse } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite } from '../../support/site/test-site.ts'

export type DescribedService = {
  readonly url: string
  /** Requests for its service-info. */
  readonly reads: string[]
  /** From now on. */
  describe(info: unknown): void
  answerBy(script: (response: ServerResponse, request: IncomingMessage) => void): void
  close(): Promise<void>
}

const servers: DescribedService[] = []

/** A service of the machine that answers with this service-info. */
export async function startService(first: unknown = {}): Promise<DescribedService> {
  const sendJson = (info: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(info))
  let script: (response: ServerResponse, request: IncomingMessage) => void = sendJson(first)
  const reads: string[] = []
  const server = createServer((request, response) => {
    reads.push(`${request.method} ${request.url}`)
    script(response, request)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const service: DescribedService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reads,
    describe(info) {
      script = sendJson(info)
    },
    answerBy(next) {
      script = next
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  servers.push(service)
  return service
}

export type GatewaySite = {
  readonly site: TestSite
  /** Events of the log of the registry, with their fields. */
  readonly events: string[]
  /** Holder of the permission to register, and nothing else but that of services. */
  as(subject: string): Promise<CheckedClient>
  register(subject: string, name: string, url: string, ttl_seconds?: number): Promise<CheckedResponse<unknown>>
  /** Registered services as `name state`. */
  states(): Promise<string[]>
  /** The service of the rule for an object, in force now. */
  ownerOf(object: string): Promise<string | undefined>
}

/** Closes the services of a test after it. */
export function setUpServices(): void {
  afterEach(async () => {
    for (const service of servers.splice(0)) await service.close()
  })
}

/** One world for all tests of a file, which must end without a logged error. */
export function setUpGatewaySite(gateway: Readonly<Record<string, unknown>> = {}): () => GatewaySite {
  let world: GatewaySite | undefined
  beforeAll(async () => {
    world = await startGatewaySite(gateway)
  })
  setUpServices()
  afterAll(async () => {
    await world?.site.end()
    expect(world?.site.loggedErrors ?? []).toEqual([])
  })
  return () => {
    if (!world) throw new Error('the world has not been made')
    return world
  }
}

export async function startGatewaySite(
  gateway: Readonly<Record<string, unknown>>,
  more: Parameters<typeof startTestSite>[0] = {},
): Promise<GatewaySite> {
  const events: string[] = []
  const site = await startTestSite({
    ...more,
    profile: { platform: { roles: ['site', 'gateway'] }, gateway: { port: 0, ...gateway }, ...more.profile },
    onEvent: (event, fields) =>
      void (event.startsWith('gateway.') && events.push(`${event} ${JSON.stringify(fields)}`)),
  })
  const as = (subject: string) => site.as({ subject, roles: ['service'] })
  const reader = () => site.as({ subject: 'reader', roles: ['auditor'] })
  return {
    ...{ site, events, as },
    register: async (subject, name, url, ttl_seconds = 300) =>
      (await as(subject)).call(register, { name, url, ttl_seconds, component_kind: 'library' }),
    async states() {
      const { items } = await (await reader()).ok(list, { limit: 500 })
      return items.map(({ name, state }) => `${name} ${state}`)
    },
    async ownerOf(object) {
      const client = await reader()
      const { items } = await client.ok(routeList, { limit: 500 })
      return items.find(({ prefix }) => prefix === `/api/v1/${object}`)?.service
    },
  }
}
