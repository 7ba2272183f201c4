// Writes what a run found as documents. Their ids follow from what they are about, so writing them again changes nothing.

import { joinLabels } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { RunMatch } from '../engine/findings.ts'
import { entityMatches, type MatchScore, matchUid, type StoredMatch } from '../entity-match/model.ts'
import { mayOpenSession } from '../entity-match/rules.ts'
import { recordUid } from '../entity-record/model.ts'
import { computeReviewWorth, likenessToProbability } from '../explain/review-worth.ts'
import { runWork } from '../parts.ts'
import { type DocumentUpsert, upsertDocuments } from '../upsert-documents.ts'
import type { StoredRun } from './model.ts'

/** What was left in files. `sampleSignal`: aborted when the run is wanted no more. Throws its reason. */
export async function publishMatches(call: Call, run: Doc<StoredRun>, total: number, signal: AbortSignal) {
  let written = 0
  for await (const batch of call.part(runWork).matches(run.id)) {
    signal.throwIfAborted()
    await upsertMatches(call, run, batch)
    written += batch.length
    call.part(runWork).reportProgress(run.id, { phase: currentPhase(run), step: 'write matches', done: written, total })
  }
  if (run.value.consensus) call.wake('consult')
}

/** Under the lens, the run and the label of `run`. */
export async function upsertMatches(call: Call, run: Doc<StoredRun>, found: readonly RunMatch[]): Promise<void> {
  await upsertDocuments(
    call.store(entityMatches),
    found.map((each) => buildMatch(call, run, each)),
    (before, now) => mergeDecisions(call, before, now),
  )
}

function currentPhase({ value: { state } }: Doc<StoredRun>) {
  return state === 'matching' ? 'match' : 'resolve'
}

function buildMatchOrigin({ id, value }: Doc<StoredRun>, at: string) {
  const { tenant_id, label, lens, lens_id, lens_version, entity_type } = value
  const times = { created_at: at, updated_at: at }
  return { tenant_id, label, lens, lens_id, lens_version, entity_type, run_id: id, ...times }
}

function buildMatch(call: Call, run: Doc<StoredRun>, { score, ...found }: RunMatch): DocumentUpsert<StoredMatch> {
  const { tenant_id, lens, scale, consensus } = run.value
  const told = scale === 'likeness' ? { likeness: score } : logOddsToScore(score)
  const consult = isInConsensusRange(told, consensus)
    ? { policy: consensus.policy, invite: consensus.invite }
    : undefined
  const { left_size, right_size, above, above_cut, ...rest } = found
  const likely = above_cut === undefined ? {} : { chance: likenessToProbability(above_cut) }
  const { chance = told.probability } = likely
  const value: StoredMatch = {
    ...buildMatchOrigin(run, call.nowIso()),
    ...rest,
    score: told,
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

function isInConsensusRange(
  score: MatchScore,
  consensus: StoredRun['consensus'],
): consensus is NonNullable<StoredRun['consensus']> {
  const value = score.probability ?? score.likeness
  return consensus !== undefined && value !== undefined && value >= consensus.from && value <= consensus.to
}

/** What people and consensus said of a match outlives the run, and so does its label. */
function mergeDecisions(call: Call, before: StoredMatch, now: StoredMatch): StoredMatch {
  const { state, decided_by, reviews, attestations, rulings, created_at } = before
  const kept = { state, decided_by, reviews, attestations, rulings, created_at }
  const isAsked = now.asks === 1 && mayOpenSession(before)
  const { consult, ...rest } = now
  return {
    ...{
      ...rest,
      ...kept,
      label: joinLabels(before.label, now.label, call.site.labels) ?? before.label,
      owes: before.owes,
    },
    worth: state === 'proposed' || state === 'deferred' ? now.worth : 0,
    ...(isAsked && consult ? { asks: 1, consult } : { asks: before.asks }),
    ...(!isAsked && before.consult ? { consult: before.consult } : {}),
  }
}
