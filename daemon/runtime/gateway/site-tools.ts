// The tools of the site's own roles, for the gateway: their definitions from the code, performed in the name of the caller.
import { loadRole } from '../../boot/loaded-roles.ts'
import type { SiteResources } from '../../boot/site-resources.ts'
import { deriveTools, type McpTool, offeredTools, toolsPath } from '../../kernel/api/mcp-tools.ts'
import { isRefusal, refuse } from '../../kernel/error/errors.ts'
import { admitCaller } from '../../kernel/identity/admit-caller.ts'
import { isDelegable } from '../../kernel/identity/identity.ts'
import type { Call } from '../../kernel/operation/call.ts'
import { isReadOperation, timeLimitOf } from '../../kernel/operation/operation.ts'
import { emptyRequest, performOperation } from '../../kernel/operation/perform-operation.ts'
import type { RoleContext } from '../../kernel/operation/role-context.ts'
import { operationsOf } from '../../kernel/role/built-in-operations.ts'
import type { Role } from '../../kernel/role/role.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import { childTrace, traceHeaders } from '../../kernel/telemetry/trace.ts'
import { PassedToolResult, type ToolProgress, type UntrustedObject } from '../../kernel/tools/tool-service.ts'
import { toolAggregator } from '../../role-calls.ts'
import { callerKey } from '../../roles/gateway/caller-key.ts'
import type { AggregatedTool } from '../../roles/gateway/tool/aggregated-tool.ts'
import { roles as everyOutline } from '../../roles.ts'
import { findBackends } from '../../shared/routing/site-routing.ts'
import type { OpenedServiceTools } from './open-service-tools.ts'

/** What the tools of the site need: its roles and their addresses, and the way to those of other processes. */
export type SiteToolSources = Pick<SiteResources, 'resolved' | 'site' | 'directory'> &
  Pick<OpenedServiceTools, 'callSiteTool'>

/** The roles whose tools and resources the gateway has, and where they are deployed. */
export async function loadSiteRoles({ resolved, site }: Pick<SiteToolSources, 'resolved' | 'site'>) {
  const names = getSettings(resolved, platformSettings).roles.filter((name) => name !== toolAggregator)
  const outlines = everyOutline.filter(({ name }) => names.includes(name))
  const roles = await Promise.all(outlines.map(loadRole))
  const deployment = { deployment_profile: site.deployment_profile, settings: resolved, transports: [] }
  return { roles, deployment }
}

/** Tools that no role may use for a caller, such as those that administer the site, are not among them. */
export async function listSiteTools(sources: SiteToolSources): Promise<readonly AggregatedTool[]> {
  const { roles, deployment } = await loadSiteRoles(sources)
  return roles.flatMap((role) => {
    const service = String(role.serviceInfo(deployment).name)
    return deriveTools(offeredTools({ role, deployment }, operationsOf(role)))
      .filter(({ target }) => isDelegable(target.operation.allow))
      .map((tool) => toAggregatedTool(sources, { role, service, tool }))
  })
}

type SiteTool = { readonly role: Role; readonly service: string; readonly tool: McpTool }

function toAggregatedTool(sources: SiteToolSources, of: SiteTool): AggregatedTool {
  const { role, tool, service } = of
  const { name, description, input_schema, output_schema, annotations, target } = tool
  const { method, allow, reads, time_limit_ms, max_body_bytes, max_body_values } = target.operation
  return {
    service,
    name,
    definition: {
      description,
      input_schema: input_schema as UntrustedObject,
      ...(output_schema === undefined ? {} : { output_schema: output_schema as UntrustedObject }),
      annotations,
    },
    declared: {
      ...{ method, allow },
      ...(reads === undefined ? {} : { reads }),
      ...(time_limit_ms === undefined ? {} : { time_limit_ms }),
      ...(max_body_bytes === undefined ? {} : { max_body_bytes }),
      ...(max_body_values === undefined ? {} : { max_body_values }),
    },
    audience: { role: role.name },
    component_kind: 'library',
    requestable: [],
    // A role has an audience, so there is a token; without one it would refuse the call.
    perform: (call, input, token = '') => performSiteTool(sources, of, { call, input, token }),
  }
}

type ToolRequest = { readonly call: Call; readonly input: UntrustedObject; readonly token: string }

async function performSiteTool(sources: SiteToolSources, of: SiteTool, request: ToolRequest): Promise<unknown> {
  const context = sources.directory.contexts.get(of.role.name)
  return context ? await performHere(context, of.tool, request) : await performElsewhere(sources, of, request)
}

/** As strict as over the network: the role admits the token, and checks the input. */
export async function performHere(
  context: RoleContext,
  { target }: Pick<McpTool, 'target'>,
  { call, input, token }: ToolRequest,
) {
  const caller = await admitCaller(context, target, { bearer: token, isLocal: true })
  if (isRefusal(caller)) return caller
  const answer = await performOperation(context, target, caller, {
    ...emptyRequest,
    through: { surface: 'agentspace', fields: input },
    accepts: ['application/json'],
    trace: childTrace(call.trace, (bytes) => call.random(bytes)),
    signal: call.signal,
    onProgress: (progress) => call.reportProgress(progress),
    credential: { subject_token: token },
  })
  return isRefusal(answer) ? answer : answer.body
}

/** By the protocol of tools, at the listener of the other process. */
async function performElsewhere(
  { resolved, callSiteTool }: SiteToolSources,
  { service, tool }: SiteTool,
  { call, input, token }: ToolRequest,
): Promise<unknown> {
  const [url] = findBackends(resolved, everyOutline).get(service) ?? []
  if (url === undefined) return refuse('unavailable', `${service} has no address in the profile`)
  const timeout_ms = timeLimitOf(tool.target.operation)
  const trace = traceHeaders(childTrace(call.trace, (bytes) => call.random(bytes)))
  const isRead = isReadOperation(tool.target.operation)
  const onProgress = (progress: ToolProgress) => call.reportProgress(progress)
  const request = { name: tool.name, input, timeout_ms, cancelled: call.signal, onProgress, trace }
  return new PassedToolResult(
    await callSiteTool({
      service,
      url: new URL(toolsPath, url),
      token,
      caller: callerKey(call.caller),
      isRead,
      call: request,
    }),
  )
}
