// A turn without a model: finds the tool by the words of the message, and calls it where it reads and its arguments are there.
import type { McpTool } from '../../../kernel/api/mcp-tools.ts'
import { abortRefusal } from '../../../kernel/operation/until-aborted.ts'
import { sliceRunner } from '../../../kernel/role/run-in-slices.ts'
import { isRead } from './chat-tools.ts'
import type { ToolUse } from './model.ts'
import { doesVerb, findChangeVerb } from './offline/change-verb.ts'
import { fillArguments } from './offline/fill-arguments.ts'
import { listFields, type ToolField } from './offline/list-fields.ts'
import { isQuestion, rankTools } from './offline/rank-tools.ts'
import { readValues } from './offline/read-values.ts'
import { splitTerms } from './offline/split-terms.ts'
import { callEvent, resultEvent, type Turn, type TurnEvents, textEvent } from './turn.ts'

const offline_model = 'offline (tool catalogue)'

/** Shown besides the best one. */
const max_alternatives = 3

export async function* answerOffline(turn: Turn): TurnEvents {
  const { call, request, tools } = turn
  const values = readValues(request.message)
  const traits = {
    terms: splitTerms(values.rest),
    hasValues: values.ids.length + values.quoted.length + values.named.size > 0,
    isQuestion: isQuestion(values.words),
  }
  const ranked = await sliceRunner(call)(rankTools(tools.all, traits))
  const [best, ...others] = ranked.map(({ tool }) => tool)
  const finish = (response: string, tool_calls: readonly ToolUse[] = []) =>
    ({ response, model_used: offline_model, tokens: {}, tool_calls }) as const
  if (!best) {
    const none = describeNone(tools.all)
    yield textEvent(none)
    return finish(none)
  }
  const verb = findChangeVerb(values.words)
  if (verb !== undefined && isRead(best) && !doesVerb(best, verb)) {
    const none = describeMissingVerb(verb, best)
    yield textEvent(none)
    return finish(none)
  }
  const { input, missing } = fillArguments(listFields(best.input_schema), values)
  const also = describeOthers(others)
  if (!isRead(best) || missing.length > 0) {
    const found = describeFound(best, missing) + also
    yield textEvent(found)
    return finish(found)
  }
  const requested = { id: 'call_0', tool: best.name, input }
  yield callEvent({ ...requested, arguments: { ...input } })
  const { use, text } = await tools.perform(requested, turn.signal)
  if (turn.signal.aborted) throw abortRefusal(turn.signal)
  yield resultEvent(use)
  const outcome = use.outcome === 'answered' ? 'answered' : 'refused'
  const response = `${best.name} ${outcome}:\n${text}${also}`
  yield textEvent(response)
  return finish(response, [use])
}

function describeNone(tools: readonly McpTool[]): string {
  if (tools.length === 0)
    return (
      'This site has no chat model, and offers you no tools: they are off in its profile (gateway.mcp_enabled), ' +
      'or your roles may use none.'
    )
  return (
    `None of the ${tools.length} tools that you may use fits these words. This site has no chat model: ` +
    'name the object and what to do with it, such as "list signals".'
  )
}

/** The words of the object fit a tool that reads: to call it would answer another request. */
function describeMissingVerb(verb: string, nearest: McpTool): string {
  return (
    `None of the tools that you may use does "${verb}" with what these words name, so none was called. ` +
    `The nearest tool only reads: ${nearest.name}.`
  )
}

function describeFound(tool: McpTool, missing: readonly ToolField[]): string {
  const lines = [`The tool ${tool.name} fits: ${tool.description.slice(0, 512).toWellFormed()}`]
  if (!isRead(tool))
    lines.push('It changes something, so it was not called: without a chat model, chat calls only tools that read.')
  if (missing.length > 0) {
    lines.push(isRead(tool) ? 'It was not called, because these are missing:' : 'The message has no value for:')
    lines.push(...missing.map(describeField), 'Write them as name=value.')
  }
  return lines.join('\n')
}

function describeField({ name, type, values, description }: ToolField): string {
  const kind = values.length > 0 ? `one of ${values.slice(0, 16).join(', ')}` : type === 'other' ? 'a value' : type
  return `  ${name} (${kind})${description === undefined ? '' : `: ${description.slice(0, 256).toWellFormed()}`}`
}

function describeOthers(others: readonly McpTool[]): string {
  const names = others.slice(0, max_alternatives).map(({ name }) => name)
  return names.length === 0 ? '' : `\nOther tools for these words: ${names.join(', ')}`
}
