// Prints a shell completion script, generated from the command catalogue.

import { command } from '../program/command.ts'
import { buildCompletionScript, shells } from '../program/completion-script.ts'
import { choice, required } from '../program/params.ts'
import { keepLayout } from '../terminal/output.ts'

export const definition = command({
  words: 'completion',
  summary: 'Print a completion script for a shell',
  positionals: { shell: required(choice('SHELL', 'Shell', shells)) },
  example: 'source <(platform completion bash)',
  async run({ shell }, terminal) {
    const { commandCatalogue } = await import('../program/command-catalogue.ts')
    const definitions = await Promise.all(
      Object.values(commandCatalogue).map(async (load) => (await load()).definition),
    )
    terminal.print(keepLayout(buildCompletionScript(shell, definitions)))
    return 0
  },
})
