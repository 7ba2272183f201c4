// A session as it begins, here or as the copy of a peer's: nothing said yet, nothing owed.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import type { StoredSession } from './model.ts'

type NewSessionFields = Pick<
  StoredSession,
  | 'id'
  | 'tenant_id'
  | 'label'
  | 'created_by'
  | 'created_at'
  | 'request_digest'
  | 'lens_id'
  | 'lens_version'
  | 'policy'
  | 'invited'
> & { readonly subject?: StoredSession['subject'] }

/** `forgeChain` begins with the id, so that no two sessions ever share a digest of their contributions. */
export function buildSession({ subject, ...asked }: NewSessionFields): StoredSession {
  return {
    ...asked,
    ...(subject ? { subject } : {}),
    updated_at: asked.created_at,
    state: 'PROPOSED',
    contributions: 0,
    contributors: 0,
    pages: 0,
    recent: [],
    chain: canonicalDigest(asked.id),
    history: [],
    pending: [],
    owes: 0,
  }
}
