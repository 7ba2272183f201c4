// Formats a service that is registered with the gateway as text.
import type { ApiObject } from '../client/client.ts'
import { formatFields } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function formatService(terminal: Terminal, service: ApiObject): string {
  const { name, url, state, last_error, objects, component_kind, source, version, tools_count } = service
  return formatFields(terminal, {
    ...{ name, url, state, error: last_error, objects: (objects as readonly string[]).join(', ') },
    ...{ kind: component_kind, source, version, listed_tools: tools_count, ...describeTools(service.tools) },
    ...{ api_path: service.api_path, mcp_path: service.mcp_path, health_path: service.health_path },
    ...{ registered_by: service.registered_by, registered_at: service.registered_at },
    ...{ read_at: service.info_at, expires_at: service.expires_at, sha256: service.info_sha256 },
  })
}

/** Absent where no tool or resource of the service has been accepted. */
function describeTools(tools: unknown) {
  if (tools === undefined) return {}
  const { accepted, offered, list, trouble, breaker } = tools as ApiObject
  return { accepted: `${accepted}, of which ${offered} are offered`, list, trouble, breaker }
}
