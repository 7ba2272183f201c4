// Formats tools and resources of a registered service as their service describes them, beside what was accepted: untrusted text.
import type { ApiObject } from '../client/client.ts'
import { colourText, line_break, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const definitionFields = ['name', 'title', 'description', 'input_schema', 'output_schema', 'annotations', 'mime_type']

export function formatToolReview(terminal: Terminal, tools: readonly ApiObject[]): string {
  if (tools.length === 0) return 'the service lists no tools and no resources'
  return tools.map((tool) => formatTool(terminal, tool)).join(paragraph_break)
}

/** Terms of all tools of a service, which no definition shows. */
export function formatServiceTerms(service: string, authentication: unknown, input: readonly string[]): string {
  const token = authentication === 'none' ? 'no token' : `a token for ${service}`
  const requested = input.length === 0 ? 'nothing' : input.join(' and ')
  return `Calls of ${service} carry ${token}; its tools may request ${requested} of clients`
}

function formatTool(terminal: Terminal, tool: ApiObject): string {
  const { name, kind, state, sha256, findings, definition, accepted } = tool
  const before = accepted as ApiObject | undefined
  const found = (findings as ApiObject[]).map(({ kind, excerpt }) =>
    colourText(terminal, 'red', `  mark of ${String(kind).replaceAll('_', ' ')}: ${excerpt}`),
  )
  const lines = [
    `${colourText(terminal, 'bold', String(name))}  ${kind}  ${state}${sha256 === undefined ? '' : `  ${sha256}`}`,
    ...found,
    ...listDifferences(before?.definition as ApiObject | undefined, definition as ApiObject | undefined),
  ]
  return lines.join(line_break)
}

/** Each field once where nothing was accepted or nothing differs, else as it was and as it is. */
function listDifferences(before: ApiObject | undefined, now: ApiObject | undefined): string[] {
  return definitionFields.flatMap((field) => {
    const [was, is] = [show(before?.[field]), show(now?.[field])]
    if (was === is || before === undefined || now === undefined) return is || was ? [`  ${field}: ${is || was}`] : []
    return [...(was ? [`- ${field}: ${was}`] : []), ...(is ? [`+ ${field}: ${is}`] : [])]
  })
}

function show(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
