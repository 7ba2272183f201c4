// Writes scored pairs as matches. Their ids derive from their records, so a repeat changes nothing.
import type { StoredPrincipal } from '../../../kernel/identity/delegation.ts'
import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { RunMatch } from '../engine/findings.ts'
import { logistic } from '../engine/score/model.ts'
import { recordUid } from '../entity-record/model.ts'
import { computeReviewWorth, likenessToProbability } from '../explain/review-worth.ts'
import type { PhaseResult } from '../parts.ts'
import { type DocumentUpsert, upsertDocuments } from '../upsert-documents.ts'
import type { ConsensusRange } from './consultation.ts'
import { entityMatches, type MatchScore, matchUid, type StoredMatch } from './model.ts'
import { mayOpenSession } from './rules.ts'

/** The run that scored the pairs, and the label of their matches. `consult_principal` has a grant for the matches of the run. */
export type MatchOrigin = Pick<
  StoredMatch,
  'tenant_id' | 'label' | 'lens' | 'lens_id' | 'lens_version' | 'entity_type' | 'run_id'
> & {
  readonly scale?: PhaseResult['scale'] | undefined
  readonly consensus?: ConsensusRange | undefined
  readonly consult_principal?: StoredPrincipal | undefined
}

export async function upsertMatches(call: Call, origin: MatchOrigin, pairs: readonly RunMatch[]): Promise<void> {
  await upsertDocuments(
    call.store(entityMatches),
    pairs.map((pair) => buildMatch(call, origin, pair)),
    (before, next) => mergeDecisions(call, before, next),
  )
}

function buildMatch(call: Call, origin: MatchOrigin, { score, ...pair }: RunMatch): DocumentUpsert<StoredMatch> {
  const { tenant_id, label, lens, lens_id, lens_version, entity_type, run_id, scale, consensus } = origin
  const { consult_principal: principal } = origin
  const at = call.nowIso()
  const matchScore = scale === 'likeness' ? { likeness: score } : logOddsToScore(score)
  const consult = isInConsensusRange(matchScore, consensus)
    ? { policy: consensus.policy, invite: consensus.invite, ...(principal ? { principal, run_id } : {}) }
    : undefined
  const { left_size, right_size, above, above_cut, ...rest } = pair
  const chanceField = above_cut === undefined ? {} : { chance: likenessToProbability(above_cut) }
  const { chance = matchScore.probability } = chanceField
  const value: StoredMatch = {
    ...{ tenant_id, label, lens, lens_id, lens_version, entity_type, run_id, created_at: at, updated_at: at },
    ...rest,
    score: matchScore,
    rank: score,
    state: 'proposed',
    decided_by: 'engine',
    reviews: [],
    attestations: [],
    rulings: [],
    above,
    left_uid: recordUid(tenant_id, lens, pair.left),
    right_uid: recordUid(tenant_id, lens, pair.right),
    ...chanceField,
    worth: chance === undefined ? 0 : computeReviewWorth(chance, pair),
    owes: 0,
    asks: consult ? 1 : 0,
    ...(consult ? { consult } : {}),
  }
  return { id: matchUid(tenant_id, lens, pair.left, pair.right), value }
}

/** Converts natural log-odds to a score. */
function logOddsToScore(nats: number): MatchScore {
  return { bits: nats / Math.LN2, probability: logistic(nats) }
}

function isInConsensusRange(score: MatchScore, consensus: ConsensusRange | undefined): consensus is ConsensusRange {
  const value = score.probability ?? score.likeness
  return consensus !== undefined && value !== undefined && value >= consensus.from && value <= consensus.to
}

/** Keeps the reviews, attestations and rulings of a match, and joins its labels. */
function mergeDecisions(call: Call, before: StoredMatch, next: StoredMatch): StoredMatch {
  const { state, decided_by, reviews, attestations, rulings, created_at } = before
  const decisionFields = { state, decided_by, reviews, attestations, rulings, created_at }
  const isRequested = next.asks === 1 && mayOpenSession(before)
  const { consult, ...rest } = next
  return {
    ...{
      ...rest,
      ...decisionFields,
      label: joinLabels(before.label, next.label, call.site.labels) ?? before.label,
      owes: before.owes,
    },
    worth: state === 'proposed' || state === 'deferred' ? next.worth : 0,
    ...(isRequested && consult ? { asks: 1, consult } : { asks: before.asks }),
    ...(!isRequested && before.consult ? { consult: before.consult } : {}),
  }
}
