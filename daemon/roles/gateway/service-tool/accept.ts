// Accepts tools and resources of a registered service exactly as an administrator has read them: by the digest of each definition.
import * as z from 'zod'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { type InputKind, inputKinds } from '../../../kernel/tools/client-input.ts'
import { serviceName } from '../../../shared/routing/ingress-settings.ts'
import { settings } from '../settings.ts'
import { max_offered_name } from '../tool/aggregated-tool.ts'
import { chooseAuthentication, type RegisteredEndpoint, requireEndpoint } from './find-endpoint.ts'
import { findToolFindings } from './findings.ts'
import { loadAcceptedTools } from './load-accepted.ts'
import {
  type AcceptedTool,
  acceptedTools,
  default_tool_permission,
  definitionDigest,
  definitionName,
  max_tools_per_service,
  type StoredApproval,
  serviceDefinition,
  type ToolAuthentication,
  toolApprovals,
  toolAuthentications,
  toolPermission,
} from './model.ts'
import { offeredName } from './offered-name.ts'
import { accepted_tools_topic, serviceToolsPart } from './parts.ts'
import { readTools } from './read-tools.ts'
import { removeAcceptedTools } from './remove-accepted.ts'
import { isResource, type ListedTool } from './rules.ts'

const acceptance = z.strictObject({
  name: definitionName.meta({ description: 'Of a resource, its URI' }),
  sha256: definitionDigest.meta({ description: 'Of the definition that was read: another one is not accepted' }),
  permission: toolPermission
    .optional()
    .meta({ description: `What callers need (default: as accepted before, else ${default_tool_permission})` }),
})
type Acceptance = z.output<typeof acceptance>

export const accept = operation({
  summary: 'Accept tools and resources of a registered service as they were read, so that the gateway offers them',
  method: 'POST',
  path: '/api/v2/gateway/service/{name}/tool',
  input: z.strictObject({
    name: serviceName,
    authentication: z.enum(toolAuthentications).meta({
      description:
        'As in the review. delegated: calls carry a token for this service, which identity.audiences must permit; none: no token',
    }),
    url: z
      .string()
      .max(4_096)
      .meta({ description: 'Of the review: a service that is registered at another URL by now is not accepted' }),
    input: z.array(z.enum(inputKinds)).max(inputKinds.length).optional().meta({
      description:
        'What the tools may request of the clients that call them: answers of people (elicitation), or of their models (sampling). Default: as accepted before, else nothing',
    }),
    tools: z.array(acceptance).min(1).max(max_tools_per_service),
  }),
  output: z.strictObject({ service: serviceName, accepted: z.array(z.string()) }).meta({
    id: 'AcceptedTools',
    description: 'Names under which the gateway offers the tools, and URIs of the resources',
  }),
  errors: ['not_found', 'not_your_tenant', 'wrong_state', 'conflict', 'rate_limited'],
  allow: 'gateway:admin',

  async run(call, { name: service, authentication: requested, url, input, tools }) {
    const endpoint = await requireEndpoint(call, service)
    if (isRefusal(endpoint)) return endpoint
    const authentication = chooseAuthentication(endpoint, requested, undefined)
    if (isRefusal(authentication)) return authentication
    if (url !== endpoint.url.href) return refuseMoved(service)
    const unknown = checkPermissions(call, tools)
    if (unknown) return unknown
    const read = await readTools(call, endpoint, authentication)
    if (isRefusal(read)) return read
    const { listed } = read
    const refused = checkAcceptances(service, tools, listed) ?? (await checkRoom(call, service, tools))
    if (refused) return refused
    const principal = authentication === 'none' ? undefined : await storePrincipal(call, service)
    if (isRefusal(principal)) return principal
    await storeAcceptance(call, { endpoint, authentication, input, principal, tools, listed })
    call.announce(accepted_tools_topic)
    return { service, accepted: tools.map(({ name }) => offeredName({ service, name })) }
  },
})

/** Callers' tokens and inputs go to this URL, whatever its tools look like. */
const refuseMoved = (service: string) =>
  refuse(
    'conflict',
    `${service} is registered at another URL by now: read its tools again with "platform gateway review ${service}"`,
    [{ path: 'url', message: 'is not that of the service any more' }],
  )

/** A misspelt permission would let nobody but administrators call the tool, without a word. */
function checkPermissions(call: Call, tools: readonly Acceptance[]): Refusal | undefined {
  const { permissions } = call.part(serviceToolsPart)
  const faults = tools.flatMap(({ permission }, at) =>
    permission === undefined || permissions.has(permission)
      ? []
      : [{ path: `tools.${at}.permission`, message: `no role has ${permission} by name` }],
  )
  if (faults.length === 0) return undefined
  return refuse(
    'invalid',
    `permission must be one that a role of the site has by name: ${[...permissions].join(', ')}; identity.roles adds others`,
    faults,
  )
}

function checkAcceptances(
  service: string,
  tools: readonly Acceptance[],
  listed: readonly ListedTool[],
): Refusal | undefined {
  const current = new Map(listed.map((tool) => [tool.name, tool]))
  const moved = tools.filter(({ name, sha256 }) => current.get(name)?.sha256 !== sha256)
  if (moved.length > 0)
    return refuse(
      'conflict',
      `${service} lists other definitions by now: read them again with "platform gateway review ${service}"`,
      moved.map(({ name }) => ({ path: name, message: current.has(name) ? 'changed since' : 'not listed any more' })),
    )
  const faults = tools.flatMap(({ name }) => {
    const message = findFault(service, current.get(name))
    return message === undefined ? [] : [{ path: name, message }]
  })
  return faults.length === 0 ? undefined : refuse('invalid', 'these tools cannot be offered', faults)
}

function findFault(service: string, tool: ListedTool | undefined): string | undefined {
  if (!tool) return undefined
  if (!isResource(tool.definition) && offeredName({ service, name: tool.name }).length > max_offered_name)
    return `its name with that of its service has more than ${max_offered_name} characters`
  const hidden = findToolFindings(tool, new Set()).find(({ kind }) => kind === 'hidden_text')
  return hidden && `its definition has characters that nobody sees: ${hidden.excerpt}`
}

async function checkRoom(call: Call, service: string, tools: readonly Acceptance[]): Promise<Refusal | undefined> {
  const { max_tools } = call.settings(settings)
  const own = await loadAcceptedTools(call, service)
  const others = (await call.store(acceptedTools).count()) - own.length
  const names = new Set([...own.map(({ value }) => value.name), ...tools.map(({ name }) => name)])
  if (names.size <= max_tools_per_service && others + names.size <= max_tools) return undefined
  const limit = `${max_tools_per_service} of a service, and ${max_tools} of all`
  return refuse('rate_limited', `the gateway has no place for these tools: at most ${limit} are accepted`)
}

/** The list is read later in the name of this administrator. */
function storePrincipal(call: Call, service: string): Promise<StoredPrincipal | Refusal> {
  return call.delegation().store({ collection: toolApprovals.name, id: service })
}

type NewAcceptance = {
  readonly endpoint: RegisteredEndpoint
  readonly authentication: ToolAuthentication
  readonly input: readonly InputKind[] | undefined
  readonly principal: StoredPrincipal | undefined
  readonly tools: readonly Acceptance[]
  readonly listed: readonly ListedTool[]
}

/** The approval comes last: until then the gateway knows nothing of the tools. */
async function storeAcceptance(call: Call, given: NewAcceptance): Promise<void> {
  const { endpoint, authentication, principal, tools } = given
  const { service, origin: url, registered_by } = endpoint
  const known = await call.store(toolApprovals).find(service)
  // Another service under this name has nothing of what the former one had, nor of an acceptance that broke off.
  const isKnown = known?.value.url === url && known.value.registered_by === registered_by
  if (!isKnown) await removeAcceptedTools(call, service)
  const input = [...(given.input ?? (isKnown ? known.value.input : []))]
  for (const tool of tools) await storeTool(call, given, tool)
  const approval: StoredApproval = {
    ...{ tenant_id: call.site.tenant_id, service, url, registered_by, authentication, input },
    ...(principal ? { principal } : {}),
    ...{ approved_by: call.caller.subject, approved_ts: call.now(), revision: call.random(8) },
  }
  const digests = Object.fromEntries(tools.map(({ name, sha256 }) => [name, sha256]))
  const audit = [call.audited('gateway.tool.accepted', service, { url, authentication, input, tools: digests })]
  if ((await call.store(toolApprovals).create(service, approval, audit)) === 'exists')
    await call.store(toolApprovals).update(service, () => ({ next: approval, answer: undefined, audit }))
}

async function storeTool(call: Call, { endpoint, listed }: NewAcceptance, { name, sha256, permission }: Acceptance) {
  const { service } = endpoint
  const id = offeredName({ service, name })
  const definition = serviceDefinition.parse(listed.find((each) => each.name === name)?.definition)
  const usual = call.settings(settings).stdio_servers[service]?.permission ?? default_tool_permission
  const accepted: AcceptedTool = {
    ...{ tenant_id: call.site.tenant_id, service, name, definition, sha256 },
    ...{ permission: permission ?? usual, accepted_by: call.caller.subject, accepted_ts: call.now() },
  }
  if ((await call.store(acceptedTools).create(id, accepted)) === 'exists')
    await call.store(acceptedTools).update(id, ({ value }) => ({
      next: { ...accepted, permission: permission ?? value.permission },
      answer: undefined,
    }))
}
