// Prints a shell's completion script, made from the list of commands, so that it cannot lag behind.
import { command } from '../command.ts'
import { completionScript, shells } from '../completion-script.ts'
import { choice, needed } from '../params.ts'

export const definition = command({
  words: 'completion',
  summary: 'a completion script for a shell',
  takes: { shell: needed(choice('SHELL', 'which', shells)) },
  example: 'source <(platform completion bash)',
  async run({ shell }, terminal) {
    const { catalogue } = await import('../commands.ts')
    const all = await Promise.all(Object.values(catalogue).map(async (load) => (await load()).definition))
    terminal.print(completionScript(shell, all))
    return 0
  },
})
