// Selects the tools that a model is offered for a message: as many as it may see, those first that fit the words.
import type { McpTool } from '../../../kernel/api/mcp-tools.ts'
import type { ModelTool } from '../../../kernel/model/chat-model.ts'
import { sliceRunner } from '../../../kernel/role/run-in-slices.ts'
import type { UntrustedObject } from '../../../kernel/tools/tool-service.ts'
import { isQuestion, rankTools } from './offline/rank-tools.ts'
import { readValues } from './offline/read-values.ts'
import { splitTerms } from './offline/split-terms.ts'
import { toModelName } from './rules.ts'
import { chatSettings } from './settings.ts'
import type { Turn } from './turn.ts'

/** Of all definitions together: a prompt is paid for by its length. */
const max_definition_bytes = 262_144
const max_description_characters = 1_024

/** By the name that the model uses, in the order of the catalogue. */
export async function offerTools({ call, request, tools, exchanges }: Turn): Promise<Map<string, OfferedTool>> {
  const { max_tools } = call.settings(chatSettings)
  const callable = tools.all.filter(tools.mayCall)
  const selected = callable.length <= max_tools ? callable : await selectTools(call, { request, exchanges }, callable)
  const offered = new Map<string, OfferedTool>()
  let bytes = 0
  for (const tool of selected.slice(0, max_tools)) {
    const name = toModelName(tool.name)
    const description = tool.description.slice(0, max_description_characters).toWellFormed()
    const definition = { name, description, input_schema: tool.input_schema as UntrustedObject }
    bytes += Buffer.byteLength(JSON.stringify(definition))
    if (bytes > max_definition_bytes) break
    offered.set(name, { tool, definition })
  }
  return offered
}

export type OfferedTool = { readonly tool: McpTool; readonly definition: ModelTool }

/** The message before counts too: "and the second one?" has no words of its own. Best first. */
async function selectTools(
  call: Turn['call'],
  { request, exchanges }: Pick<Turn, 'request' | 'exchanges'>,
  callable: readonly McpTool[],
): Promise<readonly McpTool[]> {
  const values = readValues(request.message)
  const before = exchanges.at(-1)
  const traits = {
    terms: [...splitTerms(values.rest), ...splitTerms(before ? readValues(before.message).rest : '')],
    hasValues: values.ids.length + values.quoted.length + values.named.size > 0,
    isQuestion: isQuestion(values.words),
  }
  const ranked = (await sliceRunner(call)(rankTools(callable, traits))).map(({ tool }) => tool)
  const used = callable.filter(({ name }) => before?.tools.includes(name))
  return [...new Set([...used, ...ranked, ...callable])]
}
