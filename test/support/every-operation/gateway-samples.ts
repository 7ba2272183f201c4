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

/** One caller may say one thing a minute. */
const slow_subject = 'slow-walker'
export const guardrailSettings = {
  rules: [{ name: 'slow', kinds: ['chat'], subjects: [slow_subject], calls_per_minute: 1 }],
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

function post({ site, admin }: OperationFixture, path: string, body: object, token = admin, more = {}) {
  const headers = { 'content-type': 'application/json', ...more }
  return site.request('gateway', { method: 'POST', path, token, headers, body: JSON.stringify(body) })
}

/** On a response to the walker, whose trace it gives. */
async function feedbackSample(stage: OperationFixture): Promise<OperationSample> {
  const trace_id = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traceparent = `00-${trace_id}-00f067aa0ba902b7-01`
  await post(stage, '/api/v1/chat', { message: 'hello' }, stage.admin, { traceparent })
  const input = { trace_id, kind: 'up' }
  return { input, keyed: { input, another: { kind: 'down' } } }
}

/** Of the walker. */
async function conversationSample(stage: OperationFixture): Promise<OperationSample> {
  const { json } = await post(stage, '/api/v1/chat', { message: 'hello' })
  return { input: { id: (json as { conversation_id: string }).conversation_id } }
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
async function registerToolService(stage: OperationFixture): Promise<object> {
  started ??= startLibraryService('2026-07-28')
  const service = await started
  service.serviceInfo = { name: tool_service, mcp_path: service.url.pathname }
  await register(stage, buildRegistration(tool_service, service.url.origin))
  return { ...acceptance, url: service.url.href }
}

function acceptTools({ site, admin: token }: OperationFixture, given: object): Promise<ExactResponse> {
  const { name, ...body } = { ...acceptance, ...given }
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
  'gateway.chat.send': () => ({ input: { message: 'hello' } }),
  'gateway.guide.chat.send': () => ({ input: { message: 'hello' } }),
  'gateway.chat-feedback.record': feedbackSample,
  'gateway.conversation.remove': conversationSample,
  'gateway.guardrail.check': () => ({ input: { kind: 'tool', subject: 'ada' }, isTenants: false }),
  'gateway.guide.workflow.advise': () => ({
    input: { operators: [{ name: 'ingest_file', params: { file: 'a.csv' } }] },
    isTenants: false,
  }),
  async 'gateway.service-tool.review'(stage) {
    await registerToolService(stage)
    return { input: { name: tool_service, authentication: 'none' }, isTenants: false }
  },
  async 'gateway.service-tool.accept'(stage) {
    return { input: { ...(await registerToolService(stage)) }, isTenants: false }
  },
  async 'gateway.service-tool.withdraw'(stage) {
    await acceptTools(stage, await registerToolService(stage))
    return { input: { name: tool_service }, isTenants: false }
  },
}

const continueNothing = (at: string) => (stage: OperationFixture) =>
  post(stage, at, { message: 'hello', conversation_id: `conversation_${'0'.repeat(32)}` })

const hurry = (at: string, role: string) => async (stage: OperationFixture) => {
  const token = await stage.site.token({ sub: slow_subject, roles: [role] })
  await post(stage, at, { message: 'hello' }, token)
  return await post(stage, at, { message: 'hello again' }, token)
}

const chatRefusals: Record<string, RefusalScenario> = {
  'gateway.chat.send not_found': continueNothing('/api/v1/chat'),
  'gateway.chat.send rate_limited': hurry('/api/v1/chat', 'analyst'),
  'gateway.guide.chat.send not_found': continueNothing('/api/v1/guide/chat'),
  'gateway.guide.chat.send rate_limited': hurry('/api/v1/guide/chat', 'admin'),
  'gateway.chat-feedback.record not_found': (stage) =>
    post(stage, '/api/v1/chat/feedback', { trace_id: '0'.repeat(32), kind: 'up' }),
  async 'gateway.chat-feedback.record rate_limited'(stage) {
    const { input } = await feedbackSample(stage)
    for (let given = 0; given < 20; given += 1) await post(stage, '/api/v1/chat/feedback', input)
    return await post(stage, '/api/v1/chat/feedback', input)
  },
}

export const gatewayRefusals: Record<string, RefusalScenario> = {
  ...chatRefusals,
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
  'gateway.service-tool.accept wrong_state': (stage) =>
    acceptTools(stage, { name: registered.consensus, url: 'http://127.0.0.1:1' }),
  async 'gateway.service-tool.accept conflict'(stage) {
    const read = await registerToolService(stage)
    return await acceptTools(stage, { ...read, tools: [{ name: echo.name, sha256: '0'.repeat(64) }] })
  },
  async 'gateway.service-tool.accept rate_limited'(stage) {
    const read = await registerToolService(stage)
    const { sha256 } = readListedTool({ name: 'count', input_schema: { type: 'object' } })
    return await acceptTools(stage, { ...read, tools: [...acceptance.tools, { name: 'count', sha256 }] })
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
