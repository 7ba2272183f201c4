// Records the idempotency key of a contribution that only repeats the standing one, since the session's record does not.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import { collection, type Doc } from '../../../../kernel/store/store.ts'
import type { StoredSession } from '../model.ts'

/** Not part of the session, since a repeat must not change its version; written once, never changed. */
export const contributionClaims = collection({
  name: 'contribution_claim',
  schema: z.strictObject({ tenant_id: z.string(), label, session_id: z.string(), digest: z.string() }),
  // Found by id alone.
  indexes: [],
})

/** The digest of the contribution that claimed this id without entering the session's record; undefined when none did. */
export async function findClaim(call: Call, session_id: string, id: string): Promise<string | undefined> {
  return (await call.store(contributionClaims).find(claimId(session_id, id)))?.value.digest
}

/** Claims the id durably for a contribution with this digest. Returns the digest that holds the claim, which may be another. */
export async function claimContributionId(
  call: Call,
  doc: Doc<StoredSession>,
  id: string,
  digest: string,
): Promise<string> {
  const { tenant_id, label } = doc.value
  const claimed = { tenant_id, label, session_id: doc.id, digest }
  const outcome = await call.store(contributionClaims).create(claimId(doc.id, id), claimed)
  return (outcome === 'exists' ? await findClaim(call, doc.id, id) : undefined) ?? digest
}

/** Ids come from the key, which the same caller may use once in each session. */
function claimId(session_id: string, id: string): string {
  return `${session_id}:${id}`
}
