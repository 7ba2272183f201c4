// Prints a feed of changes from a position on: up to a limit, or as they come.
import { setTimeout as pause } from 'node:timers/promises'
import type { ServiceClient } from '../client/client.ts'
import { createLineSchedule } from './line-schedule.ts'
import { line_break, type OutputRow, printResult } from './output.ts'
import type { Terminal } from './terminal.ts'

type ChangeFeed = {
  readonly api: ServiceClient
  /** An operation whose answers have `items`, `next_since` and `has_more`. */
  readonly operation: 'intelligence.signal.changes' | 'resolution.entity-change.list'
  /** Its input beside `since` and `limit`. */
  readonly input: Readonly<Record<string, unknown>>
  readonly format: (change: OutputRow) => string
}

type ChangeParams = {
  readonly since: string | undefined
  readonly follow: boolean
  readonly every: number
  readonly limit: number
  readonly json: boolean
}

type ChangePage = {
  readonly items: readonly OutputRow[]
  readonly next_since: string | undefined
  readonly has_more: boolean
}

const max_page_changes = 500

export async function printChanges(feed: ChangeFeed, terminal: Terminal, params: ChangeParams): Promise<0> {
  if (params.follow) return await followChanges(feed, terminal, params)
  const { items, next_since } = await fetchChanges(feed, params.since, params.limit)
  printResult(
    terminal,
    params.json,
    { items, next_since },
    () => items.map(feed.format).join(line_break) || 'No changes match',
  )
  if (!params.json && next_since !== undefined) terminal.note(`Continue with --since ${next_since}`)
  return 0
}

async function fetchPage({ api, operation, input }: ChangeFeed, since: string | undefined, limit: number) {
  const position = since === undefined ? {} : { since }
  return (await api.call(operation, { ...input, ...position, limit })) as ChangePage
}

async function fetchChanges(feed: ChangeFeed, start: string | undefined, limit: number) {
  const items: OutputRow[] = []
  let since = start
  for (;;) {
    const page = await fetchPage(feed, since, Math.min(max_page_changes, limit - items.length))
    items.push(...page.items)
    since = page.next_since
    if (!page.has_more || items.length >= limit) return { items, next_since: since }
  }
}

/** Runs until an interrupt or a refusal; the last printed line holds the position to continue from. */
async function followChanges(
  feed: ChangeFeed,
  terminal: Terminal,
  { since: start, every, json }: ChangeParams,
): Promise<0> {
  const isLineDue = createLineSchedule(performance.now())
  let since = start
  for (;;) {
    const page = await fetchPage(feed, since, max_page_changes)
    const { items, next_since, has_more } = page
    since = next_since
    if (json && isLineDue(page, performance.now())) terminal.print(JSON.stringify({ items, next_since }))
    if (!json) for (const change of items) terminal.print(feed.format(change))
    if (!has_more) await pause(every * 1_000)
  }
}
