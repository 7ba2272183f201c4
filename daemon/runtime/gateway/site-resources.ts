// The resources of the site's own roles, for the gateway: described by the code, read in the name of the caller.
import { findResource, isTemplate, type McpResource, offeredResources } from '../../kernel/api/mcp-resources.ts'
import { toolsPath } from '../../kernel/api/mcp-tools.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'
import { isDelegable } from '../../kernel/identity/identity.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { timeLimitOf } from '../../kernel/operation/operation.ts'
import { operationsOf } from '../../kernel/role/built-in-operations.ts'
import type { Role } from '../../kernel/role/role.ts'
import { childTrace, traceHeaders } from '../../kernel/telemetry/trace.ts'
import type { UntrustedObject } from '../../kernel/tools/tool-service.ts'
import { callerKey } from '../../roles/gateway/caller-key.ts'
import type { AggregatedResource } from '../../roles/gateway/resource/aggregated-resource.ts'
import { roles as everyOutline } from '../../roles.ts'
import { findBackends } from '../../shared/routing/site-routing.ts'
import type { OpenedServiceTools } from './open-service-tools.ts'
import { loadSiteRoles, performHere, type SiteToolSources } from './site-tools.ts'

export type SiteResourceSources = SiteToolSources & Pick<OpenedServiceTools, 'readSiteResource'>

/** Of all documents of roles. */
const mime_type = 'application/json'

export async function listSiteResources(sources: SiteResourceSources): Promise<readonly AggregatedResource[]> {
  const { roles, deployment } = await loadSiteRoles(sources)
  return roles.flatMap((role) => {
    const service = String(role.serviceInfo(deployment).name)
    const all = offeredResources({ role, deployment }, role.resources ?? [], operationsOf(role))
    const resources = all.filter(({ target }) => isDelegable(target.operation.allow))
    return resources.map((resource) => toAggregatedResource(sources, { role, service, resources }, resource))
  })
}

type RoleResources = { readonly role: Role; readonly service: string; readonly resources: readonly McpResource[] }

function toAggregatedResource(
  sources: SiteResourceSources,
  of: RoleResources,
  resource: McpResource,
): AggregatedResource {
  const { uri, name, description, target } = resource
  const { allow, time_limit_ms } = target.operation
  return {
    service: of.service,
    resource: { kind: isTemplate(resource) ? 'template' : 'resource', uri, name, description, mime_type },
    declared: { allow, ...(time_limit_ms === undefined ? {} : { time_limit_ms }) },
    audience: { role: of.role.name },
    // A role has an audience, so there is a token; without one it would refuse the read.
    read: (call, requested, token = '') => readSiteResource(sources, of, { call, uri: requested, token }),
  }
}

type ReadRequest = { readonly call: Call; readonly uri: string; readonly token: string }

/** Of several templates with one beginning, the role knows which it is: it admits the token to that one. */
async function readSiteResource(
  sources: SiteResourceSources,
  { role, service, resources }: RoleResources,
  { call, uri, token }: ReadRequest,
): Promise<readonly UntrustedObject[] | Refusal> {
  const found = findResource(resources, uri)
  if (!found) return refuse('not_found', `${service} has no document of this URI`)
  const { target } = found.resource
  const context = sources.directory.contexts.get(role.name)
  if (context) {
    const answer = await performHere(context, { target }, { call, input: found.input, token })
    return isRefusal(answer) ? answer : [{ uri, mimeType: mime_type, text: JSON.stringify(answer) }]
  }
  const [origin] = findBackends(sources.resolved, everyOutline).get(service) ?? []
  if (origin === undefined) return refuse('unavailable', `${service} has no address in the profile`)
  const trace = traceHeaders(childTrace(call.trace, (bytes) => call.random(bytes)))
  const read = { uri, timeout_ms: timeLimitOf(target.operation), cancelled: call.signal, trace }
  const reached = { service, url: new URL(toolsPath, origin), token, caller: callerKey(call.caller) }
  const contents = await sources.readSiteResource({ ...reached, read })
  return contents ?? refuse('not_found', `${service} has no document of this URI`)
}
