// Remedies for mandatory options that were left out: the parser of the command line knows their names alone.
import type { Command } from 'commander'
import { optionWord } from './arrange-arguments.ts'
import type { Params } from './command.ts'

/** Adds to the message about a missing option what may be written there. `note` writes a line to stderr. */
export function addRemedies(built: Command, options: Params, note: (line: string) => void): void {
  const remedies = Object.entries(options).flatMap(([name, { remedy }]) => {
    return remedy === undefined ? [] : [{ beginning: `required option '${optionWord(name)} `, remedy }]
  })
  if (remedies.length === 0) return
  built.configureOutput({
    outputError: (text) => {
      note(text.replace(/\n$/, ''))
      const found = remedies.find(({ beginning }) => text.includes(beginning))
      if (found) note(`  ${found.remedy}`)
    },
  })
}
