// The tools of a turn: those that the gateway offers its caller, performed with no more rights than the turn has.
import type { McpTool } from '../../../kernel/api/mcp-tools.ts'
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Delegation } from '../../../kernel/identity/delegation.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { type AddressedOperation, isReadOperation } from '../../../kernel/operation/operation.ts'
import type { OperationResponse } from '../../../kernel/operation/role-context.ts'
import type { UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { guideSettings } from '../guide/settings.ts'
import { describeHints, listCallHints } from '../guide/workflow/hint-text.ts'
import { hintScheduleParserPart } from '../guide/workflow/schedule-interval.ts'
import { describeOutcome } from './describe-outcome.ts'
import type { ToolUse } from './model.ts'
import { chatPart } from './parts.ts'
import { lowerLevel } from './rules.ts'
import { chatSettings } from './settings.ts'

export type ChatToolRequest = { readonly id: string; readonly tool: string; readonly input: UntrustedObject }

/** `text`: for the model, or a person; untrusted. */
export type ToolOutcome = { readonly use: ToolUse; readonly text: string }

export interface ChatTools {
  /** Those that the caller may use; in the order of the catalogue. */
  readonly all: readonly McpTool[]
  /** Whether the turn may call it: changes need the consent of the request. */
  mayCall(tool: McpTool): boolean
  perform(request: ChatToolRequest, signal: AbortSignal): Promise<ToolOutcome>
}

export type ToolTerms = {
  /** The highest level of data; undefined: that of the caller, and of the guardrails of each tool. */
  readonly ceiling: string | undefined
  readonly mayChange: boolean
}

export function openChatTools(call: Call, { ceiling, mayChange }: ToolTerms): ChatTools {
  const { levels } = call.site.labels
  const tools = call.tools(
    'agentspace',
    call
      .part(chatPart)
      .tools()
      .map((each) => (ceiling === undefined ? each : lowerCeiling(each, levels, ceiling))),
  )
  const all = tools.list()
  const mayCall = (tool: McpTool) => mayChange || isRead(tool)
  const { max_result_bytes } = call.settings(chatSettings)
  return {
    ...{ all, mayCall },
    async perform({ id, tool: name, input }, signal) {
      const tool = all.find((each) => each.name === name)
      const outcome = !tool
        ? refuse('not_found', 'there is no such tool for this caller')
        : !mayCall(tool)
          ? refuse('forbidden', 'this tool changes something, which the request does not allow (allow_changes)')
          : await tools.perform(name, input, signal)
      const hints = isRefusal(outcome) || !call.settings(guideSettings).enabled ? '' : listHints(call, name, input)
      return describeUse({ id, tool: name, input }, outcome, max_result_bytes, hints)
    },
  }
}

/** `hints`: advice of the site on the arguments. */
export function describeUse(
  { id, tool, input }: ChatToolRequest,
  outcome: OperationResponse | Refusal,
  max_result_bytes: number,
  hints = '',
): ToolOutcome {
  const { text, isError } = describeOutcome(outcome, max_result_bytes)
  return {
    text: hints === '' ? text : `${text}\n\n${hints}`,
    use: {
      ...{ id, tool, arguments: { ...input }, outcome: isError ? 'refused' : 'answered' },
      ...(isRefusal(outcome) ? { detail: outcome.message } : {}),
    },
  }
}

/** On the workflow that the call makes or changes; empty for other tools. */
function listHints(call: Call, tool: string, input: UntrustedObject): string {
  return describeHints(listCallHints({ tool }, input, call.part(hintScheduleParserPart)))
}

/** By the declaration of its operation, and not by a hint, which a service may have invented. */
export function isRead({ target }: McpTool): boolean {
  return isReadOperation(target.operation)
}

/** The same tool, with tokens whose clearance ends at the ceiling. */
function lowerCeiling(target: AddressedOperation, levels: readonly string[], ceiling: string): AddressedOperation {
  const { operation } = target
  const run = (call: Call, input: UntrustedObject) =>
    operation.run(Object.assign(Object.create(call) as Call, { delegation: () => confine(call.delegation()) }), input)
  const confine = (delegation: Delegation): Delegation => ({
    store: (work) => delegation.store(work),
    principal: () => delegation.principal(),
    roles: delegation.roles,
    token: (audience, max_level) => delegation.token(audience, lowerLevel(levels, max_level, ceiling)),
  })
  return { ...target, operation: { ...operation, run } }
}
