// Reads a token from an argument, stdin or the environment; only the last two are invisible to other users.
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Returns the token. Throws `CommandFailure` (2) if there is none. */
export async function readToken(argument: string | undefined, terminal: Terminal): Promise<string> {
  const token = argument ?? ((await terminal.readInput())?.trim() || terminal.env.PLATFORM_TOKEN)
  if (!token) throw new CommandFailure(2, 'no token was passed', 'pipe the token to stdin, or set PLATFORM_TOKEN')
  return token
}
