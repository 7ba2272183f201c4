// The options of a command that lists: how many items, from where on, or all of them.
import type { ItemSelection } from '../client/fetch-items.ts'
import { CommandFailure, type ParsedParams } from '../program/command.ts'
import { flag, integer, text } from '../program/params.ts'

export const pageOptions = {
  limit: integer('COUNT', 'Maximum number of results (default: 50)', 1, 100_000),
  cursor: text('CURSOR', 'Continue after the results that ended with this cursor (default: from the first)'),
  all: flag('Print all results'),
}

/** Throws `CommandFailure` (2) for both a limit and all. */
export function selectItems({ limit, cursor, all }: ParsedParams<typeof pageOptions>): ItemSelection {
  if (all && limit !== undefined) throw new CommandFailure(2, '--all and --limit cannot be combined: pass one of them')
  return { limit: all ? Number.POSITIVE_INFINITY : (limit ?? 50), cursor }
}
