// The boundary of everything that a command prints: text from outside cannot move the cursor, hide a line or forge one.
import { colour_mark, escapeControls } from './output.ts'
import type { Terminal } from './terminal.ts'

/** A terminal that shows control characters as escapes, and no sequence but the colours of `colourText`. */
export function escapingTerminal(terminal: Terminal): Terminal {
  return {
    ...terminal,
    print: (line) => terminal.print(showText(line)),
    note: (line) => terminal.note(showText(line)),
    progress: (line) => terminal.progress(showText(line)),
    prompt: (question) => terminal.prompt(showText(question)),
    promptSecret: (question) => terminal.promptSecret(showText(question)),
  }
}

/** A tab stays: it separates the words of completions. */
function showText(text: string): string {
  const parts = text.split(colour_mark).map((part) => part.split('\t').map(escapeControls).join('\t'))
  return parts.join('\u001b')
}
