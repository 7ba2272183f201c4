// Writes scored pairs as matches. Their ids follow from their records, so writing them again changes nothing.
import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { RunMatch } from '../engine/findings.ts'
import { recordUid } from '../entity-record/model.ts'
import { computeReviewWorth, likenessToProbability } from '../explain/review-worth.ts'
import type { PhaseResult } from '../parts.ts'
import { type DocumentUpsert, upsertDocuments } from '../upsert-documents.ts'
import type { ConsensusRange } from './consultation.ts'
import { entityMatches, type MatchScore, matchUid, type StoredMatch } from './model.ts'
import { mayOpenSession } from './rules.ts'

/** The run that scored the pairs, under the label that their matches get. */
export type MatchOrigin = Pick<
  StoredMatch,
  'tenant_id' | 'label' | 'lens' | 'lens_id' | 'lens_version' | 'entity_type' | 'run_id'
> & { readonly scale?: PhaseResult['scale'] | undefined; readonly consensus?: ConsensusRange | undefined }

export async function upsertMatches(call: Call, origin: MatchOrigin, found: readonly RunMatch[]): Promise<void> {
  await upsertDocuments(
    call.store(entityMatches),
    found.map((each) => buildMatch(call, origin, each)),
    (before, now) => mergeDecisions(call, before, now),
  )
}

function buildMatch(call: Call, origin: MatchOrigin, { score, ...found }: RunMatch): DocumentUpsert<StoredMatch> {
  const { tenant_id, label, lens, lens_id, lens_version, entity_type, run_id, scale, consensus } = origin
  const at = call.nowIso()
  const shown = scale === 'likeness' ? { likeness: score } : logOddsToScore(score)
  const consult = isInConsensusRange(shown, consensus)
    ? { policy: consensus.policy, invite: consensus.invite }
    : undefined
  const { left_size, right_size, above, above_cut, ...rest } = found
  const likely = above_cut === undefined ? {} : { chance: likenessToProbability(above_cut) }
  const { chance = shown.probability } = likely
  const value: StoredMatch = {
    ...{ tenant_id, label, lens, lens_id, lens_version, entity_type, run_id, created_at: at, updated_at: at },
    ...rest,
    score: shown,
    rank: score,
    state: 'proposed',
    decided_by: 'engine',
    reviews: [],
    attestations: [],
    rulings: [],
    above,
    left_uid: recordUid(tenant_id, lens, found.left),
    right_uid: recordUid(tenant_id, lens, found.right),
    ...likely,
    worth: chance === undefined ? 0 : computeReviewWorth(chance, found),
    owes: 0,
    asks: consult ? 1 : 0,
    ...(consult ? { consult } : {}),
  }
  return { id: matchUid(tenant_id, lens, found.left, found.right), value }
}

/** From natural logs. */
function logOddsToScore(nats: number): MatchScore {
  return { bits: nats / Math.LN2, probability: 1 / (1 + Math.exp(-nats)) }
}

function isInConsensusRange(score: MatchScore, consensus: ConsensusRange | undefined): consensus is ConsensusRange {
  const value = score.probability ?? score.likeness
  return consensus !== undefined && value !== undefined && value >= consensus.from && value <= consensus.to
}

/** Reviews, attestations, rulings and the label of a match outlive the run that found it. */
function mergeDecisions(call: Call, before: StoredMatch, now: StoredMatch): StoredMatch {
  const { state, decided_by, reviews, attestations, rulings, created_at } = before
  const decided = { state, decided_by, reviews, attestations, rulings, created_at }
  const isRequested = now.asks === 1 && mayOpenSession(before)
  const { consult, ...rest } = now
  return {
    ...{
      ...rest,
      ...decided,
      label: joinLabels(before.label, now.label, call.site.labels) ?? before.label,
      owes: before.owes,
    },
    worth: state === 'proposed' || state === 'deferred' ? now.worth : 0,
    ...(isRequested && consult ? { asks: 1, consult } : { asks: before.asks }),
    ...(!isRequested && before.consult ? { consult: before.consult } : {}),
  }
}
