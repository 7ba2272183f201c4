// Stores and loads the full pages of a session's record, which the session itself no longer holds.
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import type { StoredSession } from '../model.ts'
import { type Contribution, contributionPages, page_size } from './model.ts'
import { expandRecent } from './recent-contribution.ts'

/** Stores the oldest full page of `recent`, so that a later contribution may drop it from the session. Idempotent. */
export async function storeContributionPage(call: Call, { id, value }: Doc<StoredSession>): Promise<void> {
  const contributions = expandRecent(value).slice(0, page_size)
  const page = { tenant_id: value.tenant_id, label: value.label, session_id: id, page: value.pages, contributions }
  await call.store(contributionPages).create(contributionPageId(id, value.pages), page)
}

/** The contributions of the pages from `first` up to, and without, `end`. */
export async function loadContributionPages(
  call: Call,
  session_id: string,
  first: number,
  end: number,
): Promise<Contribution[]> {
  const contributions: Contribution[] = []
  for (let page = first; page < end; page++) {
    const { value } = await call.store(contributionPages).get(contributionPageId(session_id, page))
    contributions.push(...value.contributions)
  }
  return contributions
}

function contributionPageId(session_id: string, page: number): string {
  return `${session_id}:${String(page).padStart(6, '0')}`
}
