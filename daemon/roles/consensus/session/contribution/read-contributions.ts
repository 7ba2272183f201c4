// Reads the record of a session: its stored pages, then what the session itself still holds.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { StoredSession } from '../model.ts'
import { contributionPageId } from './contribution-index-cache.ts'
import { type Contribution, contributionPages, page_size } from './model.ts'
import { expandRecent } from './recent-contribution.ts'

/** Contributions `from + 1` to `from + limit` of the record. */
export async function readContributions(
  call: Call,
  { id, value }: Doc<StoredSession>,
  from: number,
  limit: number,
): Promise<Contribution[]> {
  const found: Contribution[] = []
  for (let page = Math.floor(from / page_size); page < value.pages && found.length < limit + page_size; page++) {
    found.push(...(await call.store(contributionPages).get(contributionPageId(id, page))).value.contributions)
  }
  return [...found, ...expandRecent(value)].filter(({ ordinal }) => ordinal > from).slice(0, limit)
}
