// Lists changes of the ids of entities from a position on, for other systems; can follow them.
import { formatEntityChange } from '../../../format/entity-change.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { flag, integer, required, text, withDefault } from '../../../program/params.ts'
import { printChanges } from '../../../terminal/print-changes.ts'

export const definition = command({
  words: 'resolve entity changes',
  summary: 'List changes of entities of a lens, and follow them',
  notes: [
    'Entities that were created, joined, left, split, merged, restored or deleted, each change once and none missed. The',
    'command prints the position for --since at the end. With --follow --json each line is {items, next_since}: store the',
    'next_since of the last line that you processed, and continue from it after an interruption. While no change comes, a',
    'line an hour has the position alone, so that yours stays new: changes are kept for resolution.change_days (365), and',
    'an older position is refused.',
  ].join('\n'),
  options: {
    lens: required(text('LENS', 'Name of the lens')),
    since: text('PLACE', 'Only changes after this position: the next_since of the last page'),
    follow: flag('Wait for more changes until interrupted'),
    every: withDefault(2, integer('SECONDS', 'Interval between requests with --follow', 1, 3_600)),
    limit: withDefault(500, integer('COUNT', 'Maximum number of changes, without --follow', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve entity changes --lens persons --follow',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const input = { lens: params.lens }
    const operation = 'resolution.entity-change.list' as const
    return await printChanges({ api, operation, input, format: formatEntityChange }, terminal, params)
  },
})
