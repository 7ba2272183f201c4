// Shows what became of signals, old value and new: of one, or of all since a place in the log, and goes on as more comes.
import { setTimeout as pause } from 'node:timers/promises'
import { listAllItems, type ServiceClient } from '../../client/client.ts'
import { formatSignalChange } from '../../format/signal-change.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { flag, integer, text, withDefault } from '../../program/params.ts'
import { escapeControls, type OutputRow, printResult } from '../../terminal/output.ts'
import type { Terminal } from '../../terminal/terminal.ts'

const since_help = 'next_since of what was read last'

export const definition = command({
  words: 'signal changes',
  summary: 'show what became of signals, old value and new, and follow it',
  notes: [
    'Without a signal: of all signals that you may see, in the order of the log, each change once and none missed.',
    'The place to go on from is told at the end. With --follow --json each line is {items, next_since}: keep the',
    'last next_since that you have dealt with, and go on from there after whatever happened.',
  ].join('\n'),
  positionals: { id: text('SIGNAL', 'the changes of this signal alone') },
  options: {
    since: text('PLACE', `only what comes after it: ${since_help}`),
    follow: flag('wait for more, until interrupted'),
    every: withDefault(2, integer('SECONDS', 'how often to look with --follow', 1, 3_600)),
    limit: withDefault(500, integer('COUNT', 'at most so many, without --follow', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform signal changes --follow',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const { id, since, follow, json, limit } = given
    if (id !== undefined) {
      if (since !== undefined || follow) throw new CommandFailure(2, 'the changes of one signal are listed whole')
      const items = await listAllItems(api, 'intelligence.signal.changes-of', { uid: id }, limit)
      printResult(terminal, json, { items }, () => items.map(formatSignalChange).join('\n'))
      return 0
    }
    if (follow) return await followChanges(api, terminal, given)
    const { items, next_since } = await fetchChanges(api, since, limit)
    printResult(
      terminal,
      json,
      { items, next_since },
      () => items.map(formatSignalChange).join('\n') || 'there are no such changes',
    )
    if (!json && next_since !== undefined) terminal.note(`goes on with --since ${next_since}`)
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

async function fetchChanges(api: ServiceClient, from: string | undefined, limit: number) {
  const items: OutputRow[] = []
  let since = from
  for (;;) {
    const next = await fetchChangePage(api, since, Math.min(500, limit - items.length))
    items.push(...next.items)
    since = next.next_since
    if (!next.has_more || items.length >= limit) return { items, next_since: since }
  }
}

type FollowChangesInput = { readonly since: string | undefined; readonly every: number; readonly json: boolean }

/** Ends by an interrupt, or as a refusal does; what was printed last then says where to go on. */
async function followChanges(
  api: ServiceClient,
  terminal: Terminal,
  { since: from, every, json }: FollowChangesInput,
): Promise<0> {
  let since = from
  for (;;) {
    const { items, next_since, has_more } = await fetchChangePage(api, since, 500)
    since = next_since
    if (json && items.length > 0) terminal.print(escapeControls(JSON.stringify({ items, next_since })))
    if (!json) for (const each of items) terminal.print(formatSignalChange(each))
    if (!has_more) await pause(every * 1_000)
  }
}
