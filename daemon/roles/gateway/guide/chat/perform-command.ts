// A turn in which the message is a command: its tool is performed without a model.
import type { McpTool } from '../../../../kernel/api/mcp-tools.ts'
import { listFields } from '../../chat/offline/list-fields.ts'
import { callEvent, resultEvent, type Turn, type TurnEvents, textEvent } from '../../chat/turn.ts'
import type { ChatCommand } from './read-command.ts'

const command_model = 'offline (commands)'

/** By its name, or by that which document 002 gives the inner tool; undefined: there is no such command. */
export function findCommandTool(tools: readonly McpTool[], { name }: ChatCommand): McpTool | undefined {
  return tools.find((tool) => tool.name === name || tool.name === `guide_${name}`)
}

export async function* performCommand(turn: Turn, tool: McpTool, command: ChatCommand): TurnEvents {
  const input = nameValues(tool, command)
  const requested = { id: 'call_0', tool: tool.name, input }
  yield callEvent({ ...requested, arguments: input })
  const { use, text } = await turn.tools.perform(requested, turn.signal)
  yield resultEvent(use)
  const response = `${tool.name} ${use.outcome}:\n${text}`
  yield textEvent(response)
  return { response, model_used: command_model, tokens: {}, tool_calls: [use] }
}

/** A value without a name is that of the next field that has none yet; one too many has the name of no field, and is refused. */
function nameValues(tool: McpTool, { named, unnamed }: ChatCommand): Record<string, unknown> {
  const free = listFields(tool.input_schema).filter(({ name }) => !named.has(name))
  const placed = unnamed.map((value, at) => [free[at]?.name ?? `value ${at + 1}`, value] as const)
  return Object.fromEntries([...named, ...placed])
}
