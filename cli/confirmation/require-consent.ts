// Requires a confirmation before a change that cannot be undone; without a terminal, `--yes` is required.
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Throws `CommandFailure` (3) unless the person agrees or `--yes` was given. */
export async function requireConsent(terminal: Terminal, yes: boolean, question: string): Promise<void> {
  if (yes) return
  const reply = await terminal.prompt(`${question} [y/N] `)
  if (reply === undefined)
    throw new CommandFailure(3, 'the command must be confirmed', 'add --yes to confirm without a terminal')
  if (!/^y(es)?$/i.test(reply)) throw new CommandFailure(3, 'not confirmed; nothing was changed')
}
