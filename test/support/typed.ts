// Types a command in this process, where a test may also be the person at the terminal: for tests of many commands.
import { expect } from 'vitest'
import { runProgram } from '../../cli/program.ts'
import type { Terminal } from '../../cli/terminal.ts'
import type { Ended, Json } from './command-line.ts'

export type Person = {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** What is typed when a secret is asked for, one after the other; without it there is no terminal. */
  readonly secrets?: readonly string[]
}

export async function typed(words: readonly string[], { env = {}, input = '', secrets }: Person = {}): Promise<Ended> {
  const [out, err]: [string[], string[]] = [[], []]
  const left = [...(secrets ?? [])]
  const terminal: Terminal = {
    ...{ env, isInteractive: false, canAsk: secrets !== undefined, hasColour: false, width: 120 },
    print: (line) => void out.push(`${line}\n`),
    note: (line) => void err.push(`${line}\n`),
    progress: () => undefined,
    ask: async () => undefined,
    askSecret: async () => left.shift(),
    readInput: async () => input,
  }
  const exit = await runProgram(words, terminal)
  return { exit, stdout: out.join(''), stderr: err.join('') }
}

/** The document of a command that must end well. */
export async function typedOk(words: readonly string[], person?: Person): Promise<Json> {
  const ended = await typed([...words, '--json'], person)
  expect(ended, ended.stderr).toMatchObject({ exit: 0 })
  return JSON.parse(ended.stdout) as Json
}
