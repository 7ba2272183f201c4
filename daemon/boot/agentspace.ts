// The tools of a role, where the site stands so that it offers any: elsewhere the path is not served at all.
import * as z from 'zod'
import type { McpResource } from '../kernel/api/mcp-resources.ts'
import type { Surface } from '../kernel/api/surface.ts'
import type { AddressedOperation } from '../kernel/operation/operation.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { listenerFields, toolFields } from '../kernel/settings/platform-settings.ts'
import { issuerUrl, settings as siteRoleSettings } from '../roles/site/settings.ts'
import type { RoleServiceOptions } from './service.ts'

/** The part of a role's own block that this is about; it was parsed with the block. */
const agentspaceFields = z.object({ ...listenerFields(0, ''), ...toolFields('') })

const max_session_ms = 86_400_000

/** Undefined where the role has no tools, or the profile has none. Loads its adapter only then. */
export async function openAgentspace(
  { role, deployment, environment, log }: RoleServiceOptions,
  offered: readonly AddressedOperation[],
  resources: readonly McpResource[],
): Promise<Surface | undefined> {
  if (offered.length === 0) return undefined
  const own = agentspaceFields.parse(deployment.settings.values.get(role.name))
  const { mcpSurface } = await import('../../adapters/serve/mcp/mcp-surface.ts')
  const info = role.serviceInfo(deployment)
  const { mcp_authorization_servers: issuers } = own
  return mcpSurface({
    role: role.name,
    about: { name: String(info.name), version: String(info.version) },
    operations: offered,
    resources,
    origin_policy: { hosts: new Set(listAllowedHosts(own)), origins: new Set(own.mcp_origins) },
    public_url: own.mcp_url,
    isTls: own.tls_cert_file !== undefined,
    authorization_servers:
      issuers.length > 0 ? issuers : [issuerUrl(getSettings(deployment.settings, siteRoleSettings))],
    sessions: {
      per_caller: own.mcp_sessions_per_caller,
      idle_ms: own.mcp_session_idle_s * 1_000,
      age_ms: max_session_ms,
    },
    now: environment.monotonic,
    random: environment.random,
    log,
  })
}

/** An address for every name of the machine is itself no name. */
function listAllowedHosts({ listen, mcp_hosts, mcp_url }: z.output<typeof agentspaceFields>): string[] {
  const named = mcp_url === undefined ? [] : [new URL(mcp_url).hostname]
  const bound = ['0.0.0.0', '::'].includes(listen) ? [] : [listen.includes(':') ? `[${listen}]` : listen.toLowerCase()]
  return ['localhost', '127.0.0.1', '[::1]', ...bound, ...named, ...mcp_hosts]
}
