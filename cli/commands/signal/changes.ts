// Lists changes of signals with old and new values: of one signal, or of all from a position in the change log on; can follow the log.
import { fetchItems } from '../../client/fetch-items.ts'
import { formatSignalChange } from '../../format/signal-change.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, integer, text, withDefault } from '../../program/params.ts'
import { line_break } from '../../terminal/output.ts'
import { printChanges } from '../../terminal/print-changes.ts'
import { printItems } from '../../terminal/print-items.ts'

const since_help = 'the next_since of the last page'

export const definition = command({
  words: 'signal changes',
  summary: 'List changes of signals with old and new values, and follow them',
  notes: [
    'Without a signal: the changes of all signals that you may see, in the order of the log, each once and none missed.',
    'The command prints the position for --since at the end. With --follow --json each line is {items, next_since}: store',
    'the next_since of the last line that you processed, and continue from it after an interruption.',
  ].join('\n'),
  positionals: { id: text('SIGNAL', 'ID of a signal, for its changes alone') },
  options: {
    since: text('PLACE', `Only changes after this position: ${since_help}`),
    follow: flag('Wait for more changes until interrupted'),
    every: withDefault(2, integer('SECONDS', 'Interval between requests with --follow', 1, 3_600)),
    limit: withDefault(500, integer('COUNT', 'Maximum number of changes, without --follow', 1, 100_000)),
    cursor: text(
      'CURSOR',
      'For the changes of one signal: continue after those that ended with this cursor (default: from the first)',
    ),
    ...serviceOptions,
  },
  example: 'platform signal changes --follow',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const { id, since, follow, json, limit, cursor } = params
    if (id !== undefined) {
      if (since !== undefined || follow)
        throw new CommandFailure(
          2,
          '--since and --follow do not apply to the changes of one signal: leave out the signal or the option',
        )
      const page = await fetchItems(api, 'intelligence.signal.changes-of', { uid: id }, { limit, cursor })
      printItems(terminal, json, page, () => page.items.map(formatSignalChange).join(line_break))
      return 0
    }
    const feed = { api, operation: 'intelligence.signal.changes' as const, input: {}, format: formatSignalChange }
    return await printChanges(feed, terminal, params)
  },
})
