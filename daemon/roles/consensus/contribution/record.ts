// Reads the record of a session: its stored pages, then what the session itself still holds.
import type { Call } from '../../../kernel/call.ts'
import type { Doc } from '../../../kernel/store.ts'
import type { StoredSession } from '../session/model.ts'
import { pageId } from '../session/standings.ts'
import { type Contribution, contributionPages, page_size } from './model.ts'
import { recentOf } from './recent.ts'

/** Contributions `from + 1` to `from + limit` of the record. */
export async function recordOf(
  call: Call,
  { id, value }: Doc<StoredSession>,
  from: number,
  limit: number,
): Promise<Contribution[]> {
  const found: Contribution[] = []
  for (let page = Math.floor(from / page_size); page < value.pages && found.length < limit + page_size; page++) {
    found.push(...(await call.store(contributionPages).get(pageId(id, page))).value.contributions)
  }
  return [...found, ...recentOf(value)].filter(({ ordinal }) => ordinal > from).slice(0, limit)
}
