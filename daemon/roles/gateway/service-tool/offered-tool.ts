// An accepted tool as the gateway offers it: with the definition that was accepted, and the permission that was given to it.
import type { Permission } from '../../../kernel/identity/identity.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { childTrace, traceHeaders } from '../../../kernel/telemetry/trace.ts'
import {
  type InputKind,
  InputRequiredResult,
  limitAbilities,
  type ToolClient,
} from '../../../kernel/tools/client-input.ts'
import {
  PassedToolResult,
  type ToolDefinition,
  type ToolProgress,
  type UntrustedObject,
} from '../../../kernel/tools/tool-service.ts'
import { callerKey } from '../caller-key.ts'
import { offerLinks } from '../resource/offer-uris.ts'
import type { AggregatedTool } from '../tool/aggregated-tool.ts'
import type { AcceptedTool, StoredApproval } from './model.ts'
import { serviceToolsPart, type ToolEndpoint } from './parts.ts'
import { showRequests } from './shown-requests.ts'

/** Of the time limit of a call or a read: a service that does not answer has failed before the call has. */
export const share_of_service = 0.9

/** `time_limit_ms`: of a call, from its admission to its answer. */
export function offerTool(
  { service, name, definition, permission }: AcceptedTool & { readonly definition: ToolDefinition },
  endpoint: ToolEndpoint & Pick<AggregatedTool, 'component_kind'>,
  { authentication, input: requestable }: Pick<StoredApproval, 'authentication' | 'input'>,
  time_limit_ms: number,
): AggregatedTool {
  // A hint of the service: it may repeat a call at that service, and makes no read of the tool anywhere else.
  const isRead = definition.annotations?.readOnlyHint === true
  return {
    ...{ service, name, definition },
    component_kind: endpoint.component_kind,
    declared: { method: 'POST', allow: permission as Permission, time_limit_ms },
    audience: authentication === 'none' ? undefined : { service },
    requestable,
    async perform(call: Call, input: UntrustedObject, token) {
      const trace = traceHeaders(childTrace(call.trace, (bytes) => call.random(bytes)))
      const onProgress = (progress: ToolProgress) => call.reportProgress(progress)
      const timeout_ms = time_limit_ms * share_of_service
      const request = {
        ...{ name, input, timeout_ms, cancelled: call.signal, onProgress, trace, isRead },
        ...{ caller: callerKey(call.caller), client: limitClient(call.client, requestable) },
      }
      const { callTool, resourcesOf } = call.part(serviceToolsPart)
      const outcome = await callTool(endpoint, token, request)
      if (outcome instanceof InputRequiredResult) return new PassedToolResult(showRequests(service, outcome))
      return new PassedToolResult(await offerLinks(call, { service, accepted: resourcesOf(service) }, outcome))
    },
  }
}

function limitClient(client: ToolClient | undefined, kinds: readonly InputKind[]): ToolClient | undefined {
  return client && { ...client, abilities: limitAbilities(client.abilities, kinds) }
}
