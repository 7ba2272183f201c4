// Builds stored sessions and contributions for tests of the rules; a test states only the fields that it is about.
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import {
  addToIndex,
  type ContributionIndex,
  emptyContributionIndex,
} from '../../../daemon/roles/consensus/session/contribution/contribution-index.ts'
import type { Contribution } from '../../../daemon/roles/consensus/session/contribution/model.ts'
import { acceptContribution } from '../../../daemon/roles/consensus/session/contribution/rules.ts'
import type { StoredSession } from '../../../daemon/roles/consensus/session/model.ts'

export const recorded_at = '2026-03-02T12:00:00.000Z'
export const labelPolicy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }
export const unclassifiedLabel = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' }

export const contributionLimits = { max_contributions: 1_000, labels: labelPolicy }

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

/** Has full weight; the ordinal distinguishes contributions of one contributor. */
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

/** The contribution that a peer sent under this number, in the name of its tenant. */
export function buildPeerContribution(peer: string, epoch: number, seq: number, pair_score = 0.5): Contribution {
  const msg_id = `msg_${peer}_${epoch}_${seq}`
  return {
    ...buildLocalContribution(`tenant-${peer}`, pair_score),
    id: msg_id,
    federation: { transport: 'filedrop', peer, msg_id, epoch, seq, parent_block_ids: ['ab'.repeat(32)] },
  }
}

/** The session and its index after these contributions, each accepted in turn. */
export function acceptAll(
  session: StoredSession,
  ...contributions: readonly Contribution[]
): { session: StoredSession; standing: ContributionIndex } {
  const standing = emptyContributionIndex(session.chain)
  let current = session
  for (const contribution of contributions) {
    const accepted = acceptContribution(current, standing, contribution, contribution.digest, contributionLimits)
    if (isRefusal(accepted)) throw accepted
    current = accepted.next
    addToIndex(standing, accepted.contribution, current.chain)
  }
  return { session: current, standing }
}
