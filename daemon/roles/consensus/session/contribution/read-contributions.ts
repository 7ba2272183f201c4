// Reads the record of a session: its stored pages, then the recent contributions that the session holds.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { StoredSession } from '../model.ts'
import { loadContributionPages } from './contribution-pages.ts'
import { type Contribution, page_size } from './model.ts'
import { expandRecent } from './recent-contribution.ts'

/** Contributions `from + 1` to `from + limit` of the record. */
export async function readContributions(
  call: Call,
  { id, value }: Doc<StoredSession>,
  from: number,
  limit: number,
): Promise<Contribution[]> {
  const first = Math.floor(from / page_size)
  const end = Math.min(value.pages, first + Math.ceil(limit / page_size) + 1)
  const paged = await loadContributionPages(call, id, first, end)
  return [...paged, ...expandRecent(value)].filter(({ ordinal }) => ordinal > from).slice(0, limit)
}
