// Lists changes of signals with old and new values: of one signal, or of all from a position in the change log on; can follow the log.
import { setTimeout as pause } from 'node:timers/promises'
import type { ServiceClient } from '../../client/client.ts'
import { fetchItems } from '../../client/fetch-items.ts'
import { formatSignalChange } from '../../format/signal-change.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, integer, text, withDefault } from '../../program/params.ts'
import { line_break, type OutputRow, printResult } from '../../terminal/output.ts'
import { printItems } from '../../terminal/print-items.ts'
import type { Terminal } from '../../terminal/terminal.ts'

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
    if (follow) return await followChanges(api, terminal, params)
    const { items, next_since } = await fetchChanges(api, since, limit)
    printResult(
      terminal,
      json,
      { items, next_since },
      () => items.map(formatSignalChange).join(line_break) || 'No changes match',
    )
    if (!json && next_since !== undefined) terminal.note(`Continue with --since ${next_since}`)
    return 0
  },
})

type SignalChangePage = {
  readonly items: readonly OutputRow[]
  readonly next_since: string | undefined
  readonly has_more: boolean
}

async function fetchChangePage(
  api: ServiceClient,
  since: string | undefined,
  limit: number,
): Promise<SignalChangePage> {
  const input = { limit, ...(since === undefined ? {} : { since }) }
  return (await api.call('intelligence.signal.changes', input)) as SignalChangePage
}

async function fetchChanges(api: ServiceClient, start: string | undefined, limit: number) {
  const items: OutputRow[] = []
  let since = start
  for (;;) {
    const page = await fetchChangePage(api, since, Math.min(500, limit - items.length))
    items.push(...page.items)
    since = page.next_since
    if (!page.has_more || items.length >= limit) return { items, next_since: since }
  }
}

type FollowChangesInput = { readonly since: string | undefined; readonly every: number; readonly json: boolean }

/** Runs until an interrupt or a refusal; the last printed line holds the position to continue from. */
async function followChanges(
  api: ServiceClient,
  terminal: Terminal,
  { since: start, every, json }: FollowChangesInput,
): Promise<0> {
  let since = start
  for (;;) {
    const { items, next_since, has_more } = await fetchChangePage(api, since, 500)
    since = next_since
    if (json && items.length > 0) terminal.print(JSON.stringify({ items, next_since }))
    if (!json) for (const change of items) terminal.print(formatSignalChange(change))
    if (!has_more) await pause(every * 1_000)
  }
}
