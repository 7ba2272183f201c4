// Good requests to the gateway, and scenarios for its refusals: roles of the site register as services.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExactResponse } from '../http/send-exact-request.ts'
import type { OperationFixture } from './operation-fixture.ts'
import type { OperationSample, OperationSamples } from './operation-samples.ts'
import type { RefusalScenario } from './session-requests.ts'

/** Services by the role that is registered under the name. */
const registered = { hub: 'hub-service', consensus: 'consensus-service', resolution: 'resolution-service' } as const
type RegisteredRole = keyof typeof registered

/** The walker may register them, and a further one; no others have a place. */
export const gatewaySettings = {
  ...{ port: 0, max_services: 1 },
  registrants: Object.fromEntries([...Object.values(registered), 'sample-service'].map((name) => [name, 'ada'])),
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

export const gatewaySamples: OperationSamples = {
  'gateway.registration.register': (stage) => ({ input: ofRole(stage, 'hub') }),
  'gateway.registration.end': registeredSample('consensus'),
  'gateway.registered-service.get': registeredSample('hub'),
  'gateway.registered-service.remove': registeredSample('resolution'),
  'gateway.guardrail.check': () => ({ input: { kind: 'tool', subject: 'ada' }, isTenants: false }),
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
    register(stage, ofRole(stage, 'hub'), await stage.site.token({ tenant_id: 'bravo', roles: ['admin'] })),
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
