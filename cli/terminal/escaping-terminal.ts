// The boundary of everything that a command prints: text from outside cannot move the cursor, hide a line or forge one.
import { escapeLine } from '../../daemon/kernel/text/escape-line.ts'
import { format_mark } from './output.ts'
import type { Terminal } from './terminal.ts'

/** A terminal that shows misleading characters as escapes, and obeys no sequence but the colours and breaks of `output.ts`. */
export function escapingTerminal(terminal: Terminal): Terminal {
  return {
    ...terminal,
    print: (text) => terminal.print(showText(text)),
    note: (text) => terminal.note(showText(text)),
    progress: (text) => terminal.progress(showText(text)),
    prompt: (question) => terminal.prompt(showText(question)),
    promptSecret: (question) => terminal.promptSecret(showText(question)),
  }
}

function showText(text: string): string {
  const [plain = '', ...marked] = text.split(format_mark)
  return escapeLine(plain) + marked.map(showMarkedText).join('')
}

/** What stands behind a mark: a line end, a tab, or the rest of a colour sequence, and text. */
function showMarkedText(text: string): string {
  const [, format = '', plain = ''] = /^([\n\t]|\[\d+m)?(.*)$/s.exec(text) ?? []
  return (format.startsWith('[') ? `\u001b${format}` : format) + escapeLine(plain)
}
