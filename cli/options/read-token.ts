// Takes a token from where it is not seen by others: stdin first, then the environment, an argument last.
import { CommandFailure } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The token given, or the first line of stdin. Throws `Failure` (2) when there is none. */
export async function readToken(argument: string | undefined, terminal: Terminal): Promise<string> {
  const token = argument ?? ((await terminal.readInput())?.trim() || terminal.env.PLATFORM_TOKEN)
  if (!token) throw new CommandFailure(2, 'there is no token', 'pipe it in, or set PLATFORM_TOKEN')
  return token
}
