// An accepted resource as the gateway offers it: as it was accepted, and with the permission that was given to it.
import { refuse } from '../../../kernel/error/errors.ts'
import type { Permission } from '../../../kernel/identity/identity.ts'
import { childTrace, traceHeaders } from '../../../kernel/telemetry/trace.ts'
import type { ResourceDefinition } from '../../../kernel/tools/remote-resource.ts'
import { callerKey } from '../caller-key.ts'
import type { AggregatedResource } from '../resource/aggregated-resource.ts'
import type { AcceptedTool, StoredApproval } from './model.ts'
import { share_of_service } from './offered-tool.ts'
import { serviceToolsPart, type ToolEndpoint } from './parts.ts'

/** `time_limit_ms`: of a read, from its admission to its answer. */
export function offerResource(
  { service, name: uri, definition, permission }: AcceptedTool & { readonly definition: ResourceDefinition },
  endpoint: ToolEndpoint,
  { authentication }: Pick<StoredApproval, 'authentication'>,
  time_limit_ms: number,
): AggregatedResource {
  return {
    ...{ service, resource: { ...definition, uri } },
    declared: { allow: permission as Permission, time_limit_ms },
    audience: authentication === 'none' ? undefined : { service },
    async read(call, uri, token) {
      const trace = traceHeaders(childTrace(call.trace, (bytes) => call.random(bytes)))
      const caller = callerKey(call.caller)
      const read = { uri, timeout_ms: time_limit_ms * share_of_service, cancelled: call.signal, trace, caller }
      const contents = await call.part(serviceToolsPart).readResource(endpoint, token, read)
      return contents ?? refuse('not_found', `${service} has no document of this URI`)
    },
  }
}
