// A tool of another service as the gateway offers it: under the name of its service, with the definition that the service gives.
import * as z from 'zod'
import { guidance_field } from '../../../../packages/guidance-client/src/guidance-block.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { AddressedOperation, AnyOperation } from '../../../kernel/operation/operation.ts'
import type { ComponentKind } from '../../../kernel/settings/gateway-settings.ts'
import type { InputKind } from '../../../kernel/tools/client-input.ts'
import type { ToolDefinition, UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { collectTexts } from '../guardrail/collect-texts.ts'
import type { GuardrailLimits } from '../guardrail/rules.ts'
import { attachGuidance } from '../guide/guidance/attach.ts'
import { observeToolCall } from '../guide/observation/observe-tool.ts'
import { toolCallTotal } from '../metrics.ts'
import { guardUse } from './guard-use.ts'
import { requestToken, type TokenTarget } from './request-token.ts'

/** `service`: its name in service-info. */
export type AggregatedTool = TokenTarget & {
  /** Name of the tool there. */
  readonly name: string
  readonly definition: ToolDefinition
  readonly declared: Pick<
    AnyOperation,
    'method' | 'reads' | 'allow' | 'time_limit_ms' | 'max_body_bytes' | 'max_body_values'
  >
  /** Of its service: an agent alone takes guidance with a call. */
  readonly component_kind: ComponentKind
  /** What it may request of the clients that call it. */
  readonly requestable: readonly InputKind[]
  /** Performs the tool by this token. Returns the answer of the service, or its refusal; throws a refusal that may be over soon. */
  readonly perform: (call: Call, input: UntrustedObject, token: string | undefined) => Promise<unknown>
}

/** One address for the tools of all services: metrics of tools are those below. */
const tool_call_address = 'gateway.tool.call'

/** The service checks the input, and says what is wrong with it. */
const passedInput = z.looseObject({})

export function toOperation(tool: AggregatedTool): AddressedOperation {
  return {
    address: tool_call_address,
    role: 'gateway',
    operation: {
      ...tool.declared,
      summary: tool.definition.description ?? '',
      tool: aggregatedName(tool),
      tool_definition: tool.definition,
      input: passedInput,
      output: z.unknown(),
      errors: [],
      run: (call: Call, input: UntrustedObject) => callTool(call, tool, input),
    },
  }
}

/** Characters of a name, as the protocol allows them. */
export const max_offered_name = 128

/** `<service>__<tool>`. The name of a service has no `_`, so two tools of different services never share a name. */
export function aggregatedName({ service, name }: Pick<AggregatedTool, 'service' | 'name'>): string {
  return `${service}__${name}`
}

async function callTool(call: Call, tool: AggregatedTool, input: UntrustedObject): Promise<unknown> {
  const { service, name: of } = tool
  const name = aggregatedName(tool)
  call.nameTarget({ id: name })
  // Input that a client gives while the tool runs goes to its service like the rest, and so does the state: any text may be one.
  const { responses, state } = call.client?.continuation ?? {}
  const sent = responses ? [input, responses, ...(state === undefined ? [] : [state])] : input
  const body_bytes = Buffer.byteLength(JSON.stringify(sent))
  const use = { kind: 'tool', service, tool: name, body_bytes, texts: collectTexts(sent) } as const
  const limits = await guardUse(call, use)
  if (isRefusal(limits)) return limits
  const counted = (outcome: 'answered' | 'refused') => call.count(toolCallTotal, { service, tool: of, outcome })
  const started_ms = call.monotonic()
  const observed = (answer: unknown) => {
    const latency_ms = Math.round(call.monotonic() - started_ms)
    observeToolCall(call, { service, tool: of, input, ceiling: limits.ceiling, latency_ms }, answer)
  }
  try {
    const token = await requestToken(call, tool, limits.ceiling)
    const answer = isRefusal(token) ? token : await tool.perform(call, addGuidance(call, tool, input, limits), token)
    counted(isRefusal(answer) ? 'refused' : 'answered')
    if (!isRefusal(token)) observed(answer)
    return answer
  } catch (error) {
    counted('refused')
    observed(error)
    throw error
  }
}

/**
 * Input for an agent, with the guidance for it instead of what the caller wrote there: nobody but the gateway gives
 * guidance. It comes after the guardrails have judged the caller's own input, and is not part of what is counted.
 */
function addGuidance(
  call: Call,
  { component_kind, service, audience }: AggregatedTool,
  input: UntrustedObject,
  { ceiling }: GuardrailLimits,
): UntrustedObject {
  if (component_kind !== 'agent') return input
  const { [guidance_field]: _, ...own } = input
  const only_service = audience ? undefined : service
  const guidance = attachGuidance(call, { scope: `l3:${service}`, ceiling, only_service })
  return guidance ? { ...own, [guidance_field]: guidance } : own
}
