// The endpoint of the tools of a registered service, while it is registered.
import { toolsPath } from '../../../kernel/api/mcp-tools.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { type StoredService, services } from '../registered-service/model.ts'
import { isExpired } from '../registered-service/rules.ts'
import type { ToolAuthentication } from './model.ts'
import { serviceToolsPart, type ToolEndpoint } from './parts.ts'

export type RegisteredEndpoint = ToolEndpoint &
  Pick<StoredService, 'component_kind' | 'registered_by' | 'source'> & { readonly origin: string }

/** Undefined: no such service is registered now. */
export async function findEndpoint(call: Call, service: string): Promise<RegisteredEndpoint | undefined> {
  const found = await call.store(services).find(service)
  if (!found || found.value.state === 'claiming' || isExpired(found.value, call.now())) return undefined
  const { url: origin, mcp_path = toolsPath, component_kind, registered_by, source } = found.value
  const of = { service, origin, component_kind, registered_by, source }
  if (source === 'stdio') return { ...of, url: new URL(origin) }
  // A path such as //other.example would name another host.
  const url = new URL(origin)
  url.pathname = mcp_path.split('?')[0] ?? toolsPath
  return { ...of, url }
}

/** For administrators of the site, whose decision it is. */
export async function requireEndpoint(call: Call, service: string): Promise<RegisteredEndpoint | Refusal> {
  if (call.caller.tenant_id !== call.site.tenant_id)
    return refuse('not_your_tenant', 'the registry of the gateway belongs to the tenant of the site')
  if (call.part(serviceToolsPart).own.has(service))
    return refuse(
      'wrong_state',
      `${service} is a role of this site: its tools are those of its code, and need no acceptance`,
    )
  const endpoint = await findEndpoint(call, service)
  return endpoint ?? refuse('not_found', `no service named ${service} is registered now`)
}

/** `requested` and `approved`: what the administrator names now, and what was accepted before. */
export function chooseAuthentication(
  { service, source }: RegisteredEndpoint,
  requested: ToolAuthentication | undefined,
  approved: ToolAuthentication | undefined,
): ToolAuthentication | Refusal {
  if (source !== 'stdio') return requested ?? approved ?? 'delegated'
  if (requested === 'delegated')
    return refuse('invalid', `${service} is one process for all callers, and gets no token of any: use none`, [
      { path: 'authentication', message: 'must be none for a server of gateway.stdio_servers' },
    ])
  return 'none'
}
