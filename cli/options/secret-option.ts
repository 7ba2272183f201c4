// Secrets that a command sends: each comes from a private file, stdin or a hidden prompt, and never from an argument.
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure, type Param } from '../program/command.ts'
import { text } from '../program/params.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The option of a secret field: `passwordFile` for `password`, typed `--password-file`. */
export function secretFile(help: string): Param<string | undefined> {
  return text('FILE', `${help}, from a file that only its user can read; - reads stdin, or prompts on a terminal`)
}

/** The secret; undefined without the option. `name`: of the secret in messages. Throws `CommandFailure` (2) if it is empty. */
export async function readSecretOption(
  file: string | undefined,
  name: string,
  terminal: Terminal,
): Promise<string | undefined> {
  if (file === undefined) return undefined
  const secret = file === '-' ? await readSecretInput(name, terminal) : (await offline.secrets()).readNamedSecret(file)
  if (secret) return secret
  const source = file === '-' ? 'stdin' : file
  throw new CommandFailure(2, `the ${name} is empty: ${source} holds no text`, `write the ${name} there as one line`)
}

async function readSecretInput(name: string, terminal: Terminal): Promise<string | undefined> {
  const input = await terminal.readInput()
  return input === undefined ? await terminal.promptSecret(`${name}: `) : input.replace(/\r?\n$/, '')
}
