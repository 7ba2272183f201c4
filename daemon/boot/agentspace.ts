// Serves the MCP tools of a role where it offers any; otherwise the path does not exist.
import * as z from 'zod'
import { product } from '../../adapters/platform/product/product.ts'
import type { McpResource } from '../kernel/api/mcp-resources.ts'
import { isToolSettingIgnored, toolsTopic } from '../kernel/api/mcp-tools.ts'
import type { Surface } from '../kernel/api/surface.ts'
import type { AddressedOperation } from '../kernel/operation/operation.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { serviceListenerFields } from '../kernel/settings/listener-settings.ts'
import { toolFields } from '../kernel/settings/platform-settings.ts'
import { issuerUrl, settings as siteRoleSettings } from '../roles/site/settings.ts'
import type { RoleServiceOptions } from './service.ts'

/** The fields of the role's settings block that concern tools. */
const agentspaceFields = z.object({ ...serviceListenerFields({ prefix: '', env: '', port: 0 }), ...toolFields('') })

const max_session_ms = 86_400_000

/** The MCP surface; undefined without tools. Loads its adapter only if there are tools. */
export async function openAgentspace(
  { role, deployment, environment, log, wiredTools, wiredResources }: RoleServiceOptions,
  toolOperations: readonly AddressedOperation[],
  resources: readonly McpResource[],
): Promise<Surface | undefined> {
  if (isToolSettingIgnored({ role, deployment }))
    log.warn(`${role.name}.agentspace.not-offered`, {
      setting: `${role.name}.mcp_enabled`,
      deployment_profile: deployment.deployment_profile,
      offered_in: role.tool_profiles,
    })
  if (toolOperations.length === 0 && !wiredTools) return undefined
  const roleSettings = agentspaceFields.parse(deployment.settings.values.get(role.name))
  const { mcpSurface } = await import('../../adapters/serve/mcp/mcp-surface.ts')
  const { watch_interval_ms } = await import('../../adapters/serve/mcp/watch-lists.ts')
  const info = role.serviceInfo(deployment)
  const { mcp_authorization_servers: issuers } = roleSettings
  return mcpSurface({
    role: role.name,
    about: { name: String(info.name), version: product.version },
    operations: joinTools(toolOperations, wiredTools),
    changes: (signal) => environment.changes(toolsTopic(role.name), signal, watch_interval_ms),
    resources,
    passedResources: wiredResources,
    origin_policy: {
      hosts: new Set([...listAllowedHosts(roleSettings), ...(role.tool_hosts ?? [])]),
      origins: new Set(roleSettings.mcp_origins),
    },
    public_url: roleSettings.mcp_url,
    isTls: roleSettings.tls_cert_file !== undefined,
    authorization_servers:
      issuers.length > 0 ? issuers : [issuerUrl(getSettings(deployment.settings, siteRoleSettings))],
    sessions: {
      per_caller: roleSettings.mcp_sessions_per_caller,
      idle_ms: roleSettings.mcp_session_idle_s * 1_000,
      age_ms: max_session_ms,
    },
    now: environment.monotonic,
    random: environment.random,
    log,
  })
}

/** The same array until the tools of the wire change. */
function joinTools(own: readonly AddressedOperation[], wired: RoleServiceOptions['wiredTools']) {
  if (!wired) return () => own
  let last: readonly AddressedOperation[] | undefined
  let joined = own
  return () => {
    const current = wired()
    if (current !== last) joined = [...own, ...current]
    last = current
    return joined
  }
}

/** Allowed Host headers. A wildcard listen address is not a host name. */
function listAllowedHosts({ listen, domain, mcp_hosts, mcp_url }: z.output<typeof agentspaceFields>): string[] {
  const publicHosts = mcp_url === undefined ? [] : [new URL(mcp_url).hostname]
  const listenHosts = ['0.0.0.0', '::'].includes(listen)
    ? []
    : [listen.includes(':') ? `[${listen}]` : listen.toLowerCase()]
  return ['localhost', '127.0.0.1', '[::1]', ...listenHosts, ...publicHosts, domain, ...mcp_hosts]
}
