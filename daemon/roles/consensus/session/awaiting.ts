// Finds the open sessions that await the contribution of somebody.
import type { Call } from '../../../kernel/operation/call.ts'
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

/**
 * A page of the sessions of the query that await one of the names: perhaps an empty one, with the cursor of the next.
 * Only a first page that is the last is counted, since each session has to be read.
 */
export async function listAwaiting(
  call: Call,
  query: ListQuery,
  names: readonly string[],
): Promise<CountedPage<StoredSession>> {
  let sessions_read = 0
  let record_pages_read = 0
  for (let next = query; ; ) {
    const page = await call.store(sessions).list(next)
    const docs: Doc<StoredSession>[] = []
    for (const doc of page.docs) {
      record_pages_read += doc.value.pages
      const { by_voter } = await loadContributionIndex(call, doc)
      if (awaitsAnyOf(doc.value, names, by_voter)) docs.push(doc)
    }
    sessions_read += page.docs.length
    const cursor = page.next_cursor
    const isBound = sessions_read >= max_sessions_read || record_pages_read >= max_record_pages_read
    const total_is = query.cursor === undefined && cursor === undefined ? 'exact' : 'at_least'
    const counted = { docs, total: docs.length, total_is } as const
    if (cursor === undefined) return counted
    if (docs.length > 0 || isBound) return { ...counted, next_cursor: cursor }
    next = { ...query, cursor }
  }
}
