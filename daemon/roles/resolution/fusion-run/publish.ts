// Writes what a run found as documents. Their ids follow from what they are about, so writing them again changes nothing.
import type { Call } from '../../../kernel/call.ts'
import { join } from '../../../kernel/label.ts'
import type { Doc } from '../../../kernel/store.ts'
import { entityMatches, matchUid, type Score, type StoredMatch } from '../entity-match/model.ts'
import { maySitAgain } from '../entity-match/rules.ts'
import { recordUid } from '../entity-record/model.ts'
import { chanceAt, worthOf } from '../explain/worth.ts'
import { type FoundMatch, runWork } from '../parts.ts'
import { putAll, type Written } from '../put-all.ts'
import type { StoredRun } from './model.ts'

/** What was left in files. `signal`: aborted when the run is wanted no more. Throws its reason. */
export async function publishMatches(call: Call, run: Doc<StoredRun>, total: number, signal: AbortSignal) {
  let written = 0
  for await (const batch of call.part(runWork).matches(run.id)) {
    signal.throwIfAborted()
    await putMatches(call, run, batch)
    written += batch.length
    call.part(runWork).told(run.id, { phase: phaseOf(run), step: 'write matches', done: written, total })
  }
  if (run.value.consensus) call.wake('consult')
}

/** Under the lens, the run and the label of `run`. */
export async function putMatches(call: Call, run: Doc<StoredRun>, found: readonly FoundMatch[]): Promise<void> {
  await putAll(
    call.store(entityMatches),
    found.map((each) => matchOf(call, run, each)),
    (before, now) => keptDecisions(call, before, now),
  )
}

function phaseOf({ value: { state } }: Doc<StoredRun>) {
  return state === 'matching' ? 'match' : 'resolve'
}

function whose({ id, value }: Doc<StoredRun>, at: string) {
  const { tenant_id, label, lens, lens_id, lens_version, entity_type } = value
  const times = { created_at: at, updated_at: at }
  return { tenant_id, label, lens, lens_id, lens_version, entity_type, run_id: id, ...times }
}

function matchOf(call: Call, run: Doc<StoredRun>, { score, ...found }: FoundMatch): Written<StoredMatch> {
  const { tenant_id, lens, scale, consensus } = run.value
  const told = scale === 'likeness' ? { likeness: score } : logOdds(score)
  const consult = isBetween(told, consensus) ? { policy: consensus.policy, invite: consensus.invite } : undefined
  const { left_size, right_size, above, above_cut, ...rest } = found
  const likely = above_cut === undefined ? {} : { chance: chanceAt(above_cut) }
  const { chance = told.probability } = likely
  const value: StoredMatch = {
    ...whose(run, call.nowIso()),
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
    worth: chance === undefined ? 0 : worthOf(chance, found),
    owes: 0,
    asks: consult ? 1 : 0,
    ...(consult ? { consult } : {}),
  }
  return { id: matchUid(tenant_id, lens, found.left, found.right), value }
}

/** From natural logs. */
function logOdds(nats: number): Score {
  return { bits: nats / Math.LN2, probability: 1 / (1 + Math.exp(-nats)) }
}

function isBetween(score: Score, consensus: StoredRun['consensus']): consensus is NonNullable<StoredRun['consensus']> {
  const value = score.probability ?? score.likeness
  return consensus !== undefined && value !== undefined && value >= consensus.from && value <= consensus.to
}

/** What people and consensus said of a match outlives the run, and so does its label. */
function keptDecisions(call: Call, before: StoredMatch, now: StoredMatch): StoredMatch {
  const { state, decided_by, reviews, attestations, rulings, created_at } = before
  const kept = { state, decided_by, reviews, attestations, rulings, created_at }
  const isAsked = now.asks === 1 && maySitAgain(before)
  const { consult, ...rest } = now
  return {
    ...{ ...rest, ...kept, label: join(before.label, now.label, call.site.labels) ?? before.label, owes: before.owes },
    worth: state === 'proposed' || state === 'deferred' ? now.worth : 0,
    ...(isAsked && consult ? { asks: 1, consult } : { asks: before.asks }),
    ...(!isAsked && before.consult ? { consult: before.consult } : {}),
  }
}
