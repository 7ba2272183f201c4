// A session as it begins, here or as the copy of a peer's: nothing said yet, nothing owed.
import { digestOf } from '../../../kernel/canonical.ts'
import type { StoredSession } from './model.ts'

type Asked = Pick<
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

/** `chain` begins with the id, so that no two sessions ever share a digest of their contributions. */
export function openSession({ subject, ...asked }: Asked): StoredSession {
  return {
    ...asked,
    ...(subject ? { subject } : {}),
    updated_at: asked.created_at,
    state: 'PROPOSED',
    contributions: 0,
    contributors: 0,
    pages: 0,
    recent: [],
    chain: digestOf(asked.id),
    history: [],
    pending: [],
    owes: 0,
  }
}
