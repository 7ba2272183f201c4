// The use of a tool in a chat, as one line.
import { shortenText } from '../../daemon/kernel/text/shorten-text.ts'

const max_characters = 160

/** `event`: `tool_call` or `tool_result`. */
export function formatToolEvent(
  event: string,
  { tool, arguments: given, outcome, detail }: Readonly<Record<string, unknown>>,
): string {
  if (event === 'tool_call') return `calls ${tool} ${shortenText(JSON.stringify(given), max_characters)}`
  return `${tool} ${outcome}${detail === undefined ? '' : `: ${shortenText(String(detail), max_characters)}`}`
}
