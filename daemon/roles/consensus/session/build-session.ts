// Builds a new session, here or as the copy of a peer's: without contributions, and with an empty outbox.
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
> &
  Partial<Pick<StoredSession, 'subject' | 'supersedes'>>

/** `chain` begins with the id, so that no two sessions ever share a digest of their contributions. */
export function buildSession({ subject, ...fields }: NewSessionFields): StoredSession {
  return {
    ...fields,
    ...(subject ? { subject } : {}),
    ...(subject?.correlation_id === undefined ? {} : { correlation_id: subject.correlation_id }),
    updated_at: fields.created_at,
    state: 'PROPOSED',
    contributions: 0,
    contributors: 0,
    pages: 0,
    recent: [],
    chain: canonicalDigest(fields.id),
    history: [],
    pending: [],
    owes: 0,
  }
}
