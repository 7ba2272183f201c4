// The --help of every command, as a person sees it.
import { vi } from 'vitest'
import { commandCatalogue } from '../../../cli/program/command-catalogue.ts'
import { commandGroups } from '../../../cli/program/command-groups.ts'
import { runProgram } from '../../../cli/program/program.ts'
import { processTerminal, type Terminal } from '../../../cli/terminal/terminal.ts'

export async function formatHelp(): Promise<string> {
  const paths = ['', ...[...Object.keys(commandGroups), ...Object.keys(commandCatalogue)].sort()]
  const texts: string[] = []
  // The same text wherever the test runs: in a terminal of any width, too.
  const terminal = { ...processTerminal(), isInteractive: false, env: {} }
  for (const path of paths)
    texts.push(`$ platform ${path ? `${path} ` : ''}--help\n${await formatCommandHelp(path, terminal)}`)
  return texts.join(`\n${'-'.repeat(100)}\n`)
}

async function formatCommandHelp(path: string, terminal: Terminal): Promise<string> {
  const written: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text))
    return true
  })
  try {
    await runProgram([...path.split(' ').filter(Boolean), '--help'], terminal)
  } finally {
    write.mockRestore()
  }
  return written.join('')
}
