// Shows what became of signals, old value and new: of one, or of all since a place in the log, and goes on as more comes.
import { setTimeout as pause } from 'node:timers/promises'
import { changeLine } from '../../change-text.ts'
import { type Client, listed } from '../../client/client.ts'
import { command, Failure } from '../../command.ts'
import { printable, type Row, show } from '../../output.ts'
import { flag, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import type { Terminal } from '../../terminal.ts'

const place = 'next_since of what was read last'

export const definition = command({
  words: 'signal changes',
  summary: 'show what became of signals, old value and new, and follow it',
  notes: [
    'Without a signal: of all signals that you may see, in the order of the log, each change once and none missed.',
    'The place to go on from is told at the end. With --follow --json each line is {items, next_since}: keep the',
    'last next_since that you have dealt with, and go on from there after whatever happened.',
  ].join('\n'),
  takes: { id: text('SIGNAL', 'the changes of this signal alone') },
  options: {
    since: text('PLACE', `only what comes after it: ${place}`),
    follow: flag('wait for more, until interrupted'),
    every: otherwise(2, whole('SECONDS', 'how often to look with --follow', 1, 3_600)),
    limit: otherwise(500, whole('COUNT', 'at most so many, without --follow', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform signal changes --follow',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const { id, since, follow, json, limit } = given
    if (id !== undefined) {
      if (since !== undefined || follow) throw new Failure(2, 'the changes of one signal are listed whole')
      const items = await listed(api, 'intelligence.signal.changes-of', { uid: id }, limit)
      show(terminal, json, { items }, () => items.map(changeLine).join('\n'))
      return 0
    }
    if (follow) return await followed(api, terminal, given)
    const { items, next_since } = await some(api, since, limit)
    show(terminal, json, { items, next_since }, () => items.map(changeLine).join('\n') || 'there are no such changes')
    if (!json && next_since !== undefined) terminal.note(`goes on with --since ${next_since}`)
    return 0
  },
})

type Some = { readonly items: readonly Row[]; readonly next_since: string | undefined; readonly has_more: boolean }

async function page(api: Client, since: string | undefined, limit: number): Promise<Some> {
  const input = { limit, ...(since === undefined ? {} : { since }) }
  return (await api.call('intelligence.signal.changes', input)) as Some
}

async function some(api: Client, from: string | undefined, limit: number) {
  const items: Row[] = []
  let since = from
  for (;;) {
    const next = await page(api, since, Math.min(500, limit - items.length))
    items.push(...next.items)
    since = next.next_since
    if (!next.has_more || items.length >= limit) return { items, next_since: since }
  }
}

type Following = { readonly since: string | undefined; readonly every: number; readonly json: boolean }

/** Ends by an interrupt, or as a refusal does; what was printed last then says where to go on. */
async function followed(api: Client, terminal: Terminal, { since: from, every, json }: Following): Promise<0> {
  let since = from
  for (;;) {
    const { items, next_since, has_more } = await page(api, since, 500)
    since = next_since
    if (json && items.length > 0) terminal.print(printable(JSON.stringify({ items, next_since })))
    if (!json) for (const each of items) terminal.print(changeLine(each))
    if (!has_more) await pause(every * 1_000)
  }
}
