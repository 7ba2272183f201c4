// Prints a shell's completion script, made from the list of commands, so that it cannot lag behind.
import { command } from '../program/command.ts'
import { buildCompletionScript, shells } from '../program/completion-script.ts'
import { choice, required } from '../program/params.ts'

export const definition = command({
  words: 'completion',
  summary: 'a completion script for a shell',
  positionals: { shell: required(choice('SHELL', 'which', shells)) },
  example: 'source <(platform completion bash)',
  async run({ shell }, terminal) {
    const { commandCatalogue } = await import('../program/command-catalogue.ts')
    const all = await Promise.all(Object.values(commandCatalogue).map(async (load) => (await load()).definition))
    terminal.print(buildCompletionScript(shell, all))
    return 0
  },
})
