// Good requests to the gateway, and scenarios for its refusals: roles of the site register as services.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readListedTool } from '../../../daemon/roles/gateway/service-tool/rules.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import { startLibraryService } from '../mcp/library-service.ts'
import type { OperationFixture } from './operation-fixture.ts'
import type { OperationSample, OperationSamples } from './operation-samples.ts'
import type { RefusalScenario } from './session-requests.ts'

/** Services by the role that is registered under the name. */
const registered = { hub: 'hub-service', consensus: 'consensus-service', resolution: 'resolution-service' } as const
type RegisteredRole = keyof typeof registered

/** Has the tools that samples accept. */
const tool_service = 'tool-service'

/** The walker may register them, and a further one; no others have a place. */
export const gatewaySettings = {
  ...{ port: 0, max_services: 1, max_tools: 1 },
  registrants: Object.fromEntries(
    [...Object.values(registered), 'sample-service', tool_service].map((name) => [name, 'ada']),
  ),
}

function buildRegistration(name: string, url: string) {
  return { name, url, ttl_seconds: 86_400, component_kind: 'library' }
}

const ofRole = ({ site }: OperationFixture, role: RegisteredRole) =>
  buildRegistration(registered[role], `http://127.0.0.1:${site.port(role)}`)

function register({ site, admin }: OperationFixture, body: object, token = admin): Promise<ExactResponse> {
  const headers = { 'content-type': 'application/json' }
  const path = '/api/v1/register'
  return site.request('gateway', { method: 'POST', path, token, headers, body: JSON.stringify(body) })
}

/** Services are the site's, not a tenant's. */
const registeredSample =
  (role: RegisteredRole) =>
  async (stage: OperationFixture): Promise<OperationSample> => {
    await register(stage, ofRole(stage, role))
    return { input: { name: registered[role] }, isTenants: false }
  }

const echo = readListedTool({ name: 'echo', input_schema: { type: 'object' } })
const acceptance = { name: tool_service, authentication: 'none', tools: [{ name: echo.name, sha256: echo.sha256 }] }

let started: ReturnType<typeof startLibraryService> | undefined

/** One service for all samples of a process. */
async function registerToolService(stage: OperationFixture): Promise<void> {
  started ??= startLibraryService('2026-07-28')
  const service = await started
  service.serviceInfo = { name: tool_service, mcp_path: service.url.pathname }
  await register(stage, buildRegistration(tool_service, service.url.origin))
}

function acceptTools({ site, admin: token }: OperationFixture, more: object = {}): Promise<ExactResponse> {
  const { name, ...body } = { ...acceptance, ...more }
  return site.request('gateway', {
    ...{ method: 'POST', path: `/api/v2/gateway/service/${name}/tool`, token },
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

function reviewTools({ site, admin }: OperationFixture, service: string, token = admin): Promise<ExactResponse> {
  return site.request('gateway', { method: 'GET', path: `/api/v2/gateway/service/${service}/tool`, token })
}

const bravoToken = ({ site }: OperationFixture) => site.token({ tenant_id: 'bravo', roles: ['admin'] })

export const gatewaySamples: OperationSamples = {
  'gateway.registration.register': (stage) => ({ input: ofRole(stage, 'hub') }),
  'gateway.registration.end': registeredSample('consensus'),
  'gateway.registered-service.get': registeredSample('hub'),
  'gateway.registered-service.remove': registeredSample('resolution'),
  'gateway.guardrail.check': () => ({ input: { kind: 'tool', subject: 'ada' }, isTenants: false }),
  async 'gateway.service-tool.review'(stage) {
    await registerToolService(stage)
    return { input: { name: tool_service, authentication: 'none' }, isTenants: false }
  },
  async 'gateway.service-tool.accept'(stage) {
    await registerToolService(stage)
    return { input: acceptance, isTenants: false }
  },
  async 'gateway.service-tool.withdraw'(stage) {
    await registerToolService(stage)
    await acceptTools(stage)
    return { input: { name: tool_service }, isTenants: false }
  },
}

export const gatewayRefusals: Record<string, RefusalScenario> = {
  'gateway.registration.register already_exists': (stage) =>
    registerDescribed(stage, { name: 'sample-service', objects: ['signal'] }),
  /** The same name is registered while the service describes itself. */
  'gateway.registration.register conflict': (stage) =>
    registerDescribed(stage, { name: 'sample-service' }, (body) => register(stage, body)),
  async 'gateway.registration.register rate_limited'(stage) {
    await register(stage, ofRole(stage, 'hub'))
    return await registerDescribed(stage, { name: 'further-service' })
  },
  'gateway.registration.register not_your_tenant': async (stage) =>
    register(stage, ofRole(stage, 'hub'), await bravoToken(stage)),
  'gateway.service-tool.review not_your_tenant': async (stage) =>
    reviewTools(stage, tool_service, await bravoToken(stage)),
  'gateway.service-tool.review wrong_state': (stage) => reviewTools(stage, registered.consensus),
  'gateway.service-tool.accept wrong_state': (stage) => acceptTools(stage, { name: registered.consensus }),
  async 'gateway.service-tool.accept conflict'(stage) {
    await registerToolService(stage)
    return await acceptTools(stage, { tools: [{ name: echo.name, sha256: '0'.repeat(64) }] })
  },
  async 'gateway.service-tool.accept rate_limited'(stage) {
    await registerToolService(stage)
    const { sha256 } = readListedTool({ name: 'count', input_schema: { type: 'object' } })
    return await acceptTools(stage, { tools: [...acceptance.tools, { name: 'count', sha256 }] })
  },
}

/** Registers a service with this service-info. `meanwhile`: before it answers the first request. */
async function registerDescribed(
  stage: OperationFixture,
  info: { readonly name: string; readonly objects?: readonly string[] },
  meanwhile?: (body: object) => Promise<unknown>,
): Promise<ExactResponse> {
  let waiting = meanwhile
  const server = createServer(async (_, response) => {
    const before = waiting
    waiting = undefined
    await before?.(body)
    response.end(JSON.stringify(info))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const body = buildRegistration(info.name, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  try {
    return await register(stage, body)
  } finally {
    server.close()
  }
}
