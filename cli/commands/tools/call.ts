// Calls a tool of a service and prints its result.
import { parseJson } from '../../../daemon/kernel/encoding/parse-json.ts'
import type { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { problem, refusalFromProblem } from '../../../daemon/kernel/error/problem.ts'
import { default_time_limit_ms } from '../../../daemon/kernel/operation/operation.ts'
import type { RemoteToolResult, ToolProgress } from '../../../daemon/kernel/tools/tool-service.ts'
import { readJsonFile } from '../../file/json-file.ts'
import { toolServiceOptions, withToolService } from '../../options/tool-service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { duration, required, text } from '../../program/params.ts'
import { keepLayout, line_break, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'tools call',
  summary: 'Call a tool of a service and print its result',
  notes:
    'Exit code 1: the tool reports a failure. A refusal by the site is printed, and ends, as that of other commands.',
  positionals: { tool: required(text('TOOL', 'Name of the tool, as `platform tools list` shows it')) },
  options: {
    input: text('FILE', 'JSON file with the input of the tool (default: no input)'),
    timeout: duration('TIME', 'Time limit of the call (default: that of the tool with --role, 30s with --url)'),
    ...toolServiceOptions,
  },
  example: 'platform tools call consensus_session_list --role consensus',
  async run(params, terminal) {
    const timeout_ms = params.timeout === undefined ? await findTimeLimit(params) : params.timeout * 1_000
    const input = params.input === undefined ? {} : readInput(params.input)
    const result = await withToolService(params, terminal, (connection) =>
      connection.callTool({
        ...{ name: params.tool, input, timeout_ms },
        onProgress: (progress) => terminal.progress(formatProgress(progress)),
      }),
    )
    terminal.progress('')
    const refusal = params.json || params.url !== undefined ? undefined : findRefusal(result)
    if (refusal) throw refusal
    printResult(terminal, params.json, result, () => formatResult(result))
    return result.is_error ? 1 : 0
  },
})

async function findTimeLimit({ role, tool }: { readonly role: string | undefined; readonly tool: string }) {
  const { answerLimitOfTool } = await import('../../client/operations.ts')
  return (role === undefined ? undefined : await answerLimitOfTool(role, tool)) ?? default_time_limit_ms
}

/** Of the site itself, as its operations refuse: other services give their failures other forms. */
function findRefusal({ is_error, content }: RemoteToolResult): Refusal | undefined {
  const [block, ...others] = content
  if (!is_error || others.length > 0 || typeof block?.text !== 'string') return undefined
  const body = parseJson(block.text)
  return problem.safeParse(body).success ? refusalFromProblem(body, 500) : undefined
}

function readInput(file: string): Readonly<Record<string, unknown>> {
  const input = readJsonFile(file)
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new CommandFailure(2, `${file} is not a JSON object`, 'name each input of the tool as a member')
  return input as Record<string, unknown>
}

function formatProgress({ progress, total, message = '' }: ToolProgress): string {
  return `${progress}${total === undefined ? '' : ` of ${total}`} ${message}`
}

/**
 * The structured content if there is any: the text of our own tools repeats it. Other text is indented: each line of a
 * service would look like one of this program.
 */
function formatResult({ content, structured_content }: RemoteToolResult): string {
  if (structured_content) return keepLayout(JSON.stringify(structured_content, undefined, 2))
  return content
    .map((block) => (typeof block.text === 'string' ? indentText(block.text) : JSON.stringify(block)))
    .join(line_break)
}

function indentText(text: string): string {
  return keepLayout(`  ${text.trimEnd().replaceAll('\n', '\n  ')}`)
}
