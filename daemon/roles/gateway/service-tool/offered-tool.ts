// An accepted tool as the gateway offers it: with the definition that was accepted, and the permission that was given to it.
import type { Permission } from '../../../kernel/identity/identity.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { childTrace, traceHeaders } from '../../../kernel/telemetry/trace.ts'
import { PassedToolResult, type ToolProgress, type UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import type { AggregatedTool } from '../tool/aggregated-tool.ts'
import type { AcceptedTool, ToolAuthentication } from './model.ts'
import { serviceToolsPart, type ToolEndpoint } from './parts.ts'

/** Of the time limit of a call: a service that does not answer has failed before the call has. */
const share_of_service = 0.9

/** `time_limit_ms`: of a call, from its admission to its answer. */
export function offerTool(
  { service, name, definition, permission }: AcceptedTool,
  endpoint: ToolEndpoint,
  authentication: ToolAuthentication,
  time_limit_ms: number,
): AggregatedTool {
  // A hint of the service: it may repeat a call at that service, and makes no read of the tool anywhere else.
  const isRead = definition.annotations?.readOnlyHint === true
  return {
    ...{ service, name, definition },
    declared: { method: 'POST', allow: permission as Permission, time_limit_ms },
    audience: authentication === 'none' ? undefined : { service },
    async perform(call: Call, input: UntrustedObject, token) {
      const trace = traceHeaders(childTrace(call.trace, (bytes) => call.random(bytes)))
      const onProgress = (progress: ToolProgress) => call.reportProgress(progress)
      const timeout_ms = time_limit_ms * share_of_service
      const request = { name, input, timeout_ms, cancelled: call.signal, onProgress, trace, isRead }
      return new PassedToolResult(await call.part(serviceToolsPart).callTool(endpoint, token, request))
    },
  }
}
