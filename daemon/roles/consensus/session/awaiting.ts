// Finds the open sessions that await the contribution of somebody.
import type { Call } from '../../../kernel/operation/call.ts'
import { exactTotal } from '../../../kernel/operation/paging.ts'
import type { CountedPage } from '../../../kernel/store/scoped-store.ts'
import type { Doc, ListQuery } from '../../../kernel/store/store.ts'
import { listContributors } from '../contributor/enrolment.ts'
import { maySubmitFor } from './contribution/check-enrolment.ts'
import { type ContributionView, voterKey } from './contribution/contribution-index.ts'
import { loadContributionIndex } from './contribution/contribution-index-cache.ts'
import { type SessionState, type StoredSession, sessions } from './model.ts'

/** States in which a contribution is missing; a session in conflict waits for a person. */
export const awaiting_states: SessionState[] = ['PROPOSED', 'PENDING_QUORUM']

/** Sessions and pages of their records that one request reads; the cursor of its answer leads on. */
const max_sessions_read = 500
const max_record_pages_read = 2_000

/** Names in which the caller may contribute. */
export async function listOwnNames(call: Call): Promise<string[]> {
  const enrolled = await listContributors(call)
  return enrolled.filter((contributor) => maySubmitFor(call.caller, contributor)).map(({ name }) => name)
}

/** Whether one of the names may still give its first contribution. `standing`: of this state of the session. */
function awaitsAnyOf(
  { state, origin, policy, tenant_id, peer_tenants }: StoredSession,
  names: readonly string[],
  standing: ContributionView['by_voter'],
): boolean {
  if (!awaiting_states.includes(state) || standing.size >= policy.n) return false
  // At a peer's session this site has one vote, whichever of its people contributes.
  const hasVoted = (contributor_id: string) => standing.has(voterKey(contributor_id))
  if (origin) return names.length > 0 && !hasVoted(tenant_id)
  return names.some(
    (name) => (policy.contributors?.includes(name) ?? true) && !peer_tenants?.includes(name) && !hasVoted(name),
  )
}

/** What one walk has read: it ends when either is used up. */
class ReadBudget {
  #sessions = max_sessions_read
  #record_pages = max_record_pages_read

  spend(docs: readonly Doc<StoredSession>[]): void {
    this.#sessions -= docs.length
    for (const { value } of docs) this.#record_pages -= value.pages
  }

  get isSpent(): boolean {
    return this.#sessions <= 0 || this.#record_pages <= 0
  }
}

/** A page of the sessions of the query that await one of the names: perhaps an empty one, with the cursor of the next. */
export async function listAwaiting(
  call: Call,
  query: ListQuery,
  names: readonly string[],
): Promise<CountedPage<StoredSession>> {
  const budget = new ReadBudget()
  for (let next = query; ; ) {
    const { docs, next_cursor } = await readPage(call, next, names, budget)
    if (next_cursor !== undefined && docs.length === 0 && !budget.isSpent) next = { ...query, cursor: next_cursor }
    else {
      const isWhole = query.cursor === undefined && next_cursor === undefined
      const counted = isWhole ? exactTotal(docs.length) : await countAwaiting(call, query, names)
      // Sessions may have ended since the page was read.
      const total = Math.max(counted.total, docs.length)
      return { docs, ...counted, total, ...(next_cursor === undefined ? {} : { next_cursor }) }
    }
  }
}

/** Sessions that await one of the names, from the first on: each has to be read, so the count ends where a page would. */
async function countAwaiting(call: Call, { cursor: _, ...query }: ListQuery, names: readonly string[]) {
  const budget = new ReadBudget()
  let total = 0
  for (let next: ListQuery = { ...query, limit: count_page }; ; ) {
    const { docs, next_cursor } = await readPage(call, next, names, budget)
    total += docs.length
    if (next_cursor === undefined) return exactTotal(total)
    if (budget.isSpent) return { total, total_is: 'at_least' } as const
    next = { ...next, cursor: next_cursor }
  }
}

/** Sessions that are read at once for a count. */
const count_page = 50

async function readPage(call: Call, query: ListQuery, names: readonly string[], budget: ReadBudget) {
  const { docs: all, next_cursor } = await call.store(sessions).list(query)
  const docs: Doc<StoredSession>[] = []
  for (const doc of all) {
    const { by_voter } = await loadContributionIndex(call, doc)
    if (awaitsAnyOf(doc.value, names, by_voter)) docs.push(doc)
  }
  budget.spend(all)
  return { docs, next_cursor }
}
