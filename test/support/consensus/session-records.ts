// Stored sessions and contributions for tests of the rules, with as little said as the test is about.
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { Contribution } from '../../../daemon/roles/consensus/session/contribution/model.ts'
import type { StoredSession } from '../../../daemon/roles/consensus/session/model.ts'

export const recorded_at = '2026-03-02T12:00:00.000Z'
export const labelPolicy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }
export const unclassifiedLabel = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' }

export function buildStoredSession(more: Partial<StoredSession> = {}): StoredSession {
  return {
    id: 'ses_1',
    tenant_id: 'tenant-a',
    label: unclassifiedLabel,
    created_by: 'ann',
    created_at: recorded_at,
    updated_at: recorded_at,
    request_digest: 'r',
    lens_id: 'lens-1',
    lens_version: '3',
    policy: { m: 2, n: 3, combination_method: 'weighted_average', ratify_threshold: 0.8, conflict_threshold: 0.5 },
    state: 'PROPOSED',
    contributions: 0,
    contributors: 0,
    pages: 0,
    recent: [],
    chain: 'start',
    history: [{ seq: 1, at: recorded_at, from: null, to: 'PROPOSED', trigger: 'create', by: 'ann' }],
    invited: [],
    pending: [],
    owes: 0,
    ...more,
  }
}

/** With full weight; the ordinal tells contributions of one contributor apart. */
export function buildLocalContribution(contributor_id: string, pair_score: number, ordinal = 1): Contribution {
  const id = `con_${contributor_id}_${ordinal}`
  const signer_key_id = `${contributor_id}-1`
  return {
    id,
    ordinal,
    contributor_id,
    pair_score,
    accuracy: 1,
    credibility: 1,
    signer_key_id,
    classification: unclassifiedLabel,
    digest: canonicalDigest([contributor_id, pair_score]),
    submitted_by: 'ann',
    at: recorded_at,
  }
}

/** What a peer sent under this number, in the name of its tenant. */
export function buildPeerContribution(peer: string, epoch: number, seq: number, pair_score = 0.5): Contribution {
  const msg_id = `msg_${peer}_${epoch}_${seq}`
  return {
    ...buildLocalContribution(`tenant-${peer}`, pair_score),
    id: msg_id,
    federation: { transport: 'filedrop', peer, msg_id, epoch, seq, parent_block_ids: ['ab'.repeat(32)] },
  }
}
