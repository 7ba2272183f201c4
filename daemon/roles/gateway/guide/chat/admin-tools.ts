// The tools of a conversation with the guidance layer: those of its administrators, which no other surface has.
import type { McpTool } from '../../../../kernel/api/mcp-tools.ts'
import { refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { type ChatTools, describeUse, isRead } from '../../chat/chat-tools.ts'
import { chatSettings } from '../../chat/settings.ts'
import { isRequestedChange } from './requested-change.ts'

/** What the person has written: in this message, and before. */
export type PersonWords = { readonly message: string; readonly earlier: readonly string[] }

export function openAdminTools(call: Call, { message, earlier }: PersonWords): ChatTools {
  const tools = call.tools('admin_chat')
  const all = tools.list()
  const { max_result_bytes } = call.settings(chatSettings)
  return {
    all,
    mayCall: () => true,
    async perform({ id, tool: name, input }, signal) {
      const tool = all.find((each) => each.name === name)
      const outcome =
        tool && !isRead(tool) && !isRequestedChange(name, input, message, earlier)
          ? refuse('forbidden', describeConsent(tool))
          : await tools.perform(name, input, signal)
      return describeUse({ id, tool: name, input }, outcome, max_result_bytes)
    },
  }
}

function describeConsent({ name }: McpTool): string {
  return `${name} changes guidance: the administrator must name the change and the id of its object in a message`
}
