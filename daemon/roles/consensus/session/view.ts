// Shows a stored session as the API returns it, without its internal fields.
import type { Doc } from '../../../kernel/store/store.ts'
import type { ConsensusSession, StoredSession } from './model.ts'

export function showSession({ id, version, value }: Doc<StoredSession>): ConsensusSession {
  const {
    label,
    recent: _recent,
    pages: _pages,
    chain: _chain,
    pending,
    failures,
    invitation_label: _invited,
    peer_tenants: _tenants,
    owes: _owes,
    deadline_ts: _ts,
    correlation_id: _correlation,
    request_digest: _digest,
    ...rest
  } = value
  return { ...rest, id, version, classification: label, undelivered: pending.length, undeliverable: failures ?? [] }
}
