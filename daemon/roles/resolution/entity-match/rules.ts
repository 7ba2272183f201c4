// Decides a match from its assessments and rulings: people override consensus, consensus overrides peers and the engine.
import type * as z from 'zod'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { refuseOtherRequest } from '../../../kernel/operation/check-repeated-request.ts'
import type { MatchRuling, matchAttestation, matchReview, matchState, StoredMatch } from './model.ts'

type MatchReview = z.infer<typeof matchReview>
type MatchAttestation = z.infer<typeof matchAttestation>
type MatchDecision = Pick<StoredMatch, 'state' | 'decided_by'>
type MatchAssessments = Pick<StoredMatch, 'reviews' | 'attestations' | 'rulings'>

/** Limit of assessments of one match, above any realistic number: a client that adds more has a defect. */
const max_assessments = 1_000

/**
 * Derives the decision. The latest decision of a person counts: confirm and reject decide; defer withdraws earlier
 * ones, so that the latest ruling of a consensus session counts, one of this site before one of a peer, or else the engine.
 */
export function deriveDecision({ reviews, attestations, rulings }: MatchAssessments): MatchDecision {
  const last = [...reviews, ...attestations].reduce<MatchReview | MatchAttestation | undefined>(
    (latest, assessment) => (latest && latest.seq > assessment.seq ? latest : assessment),
    undefined,
  )
  if (last?.decision === 'confirm') return { state: 'confirmed', decided_by: 'human' }
  if (last?.decision === 'reject') return { state: 'rejected', decided_by: 'human' }
  const ratified = rulings.filter(({ status }) => status === 'ratified')
  const own = ratified.filter(({ peer }) => peer === undefined)
  const [latest] = (own.length > 0 ? own : ratified).toSorted((a, b) =>
    a.at < b.at ? 1 : a.at > b.at ? -1 : a.session_id < b.session_id ? 1 : -1,
  )
  if (latest) return { state: latest.decision === 'match' ? 'confirmed' : 'rejected', decided_by: 'consensus' }
  return last ? { state: 'deferred', decided_by: 'human' } : { state: 'proposed', decided_by: 'engine' }
}

const constraintsByState: Readonly<Record<z.infer<typeof matchState>, 'same' | 'different' | undefined>> = {
  confirmed: 'same',
  rejected: 'different',
  proposed: undefined,
  deferred: undefined,
}

/** Derives the constraint of the decision on clusters; undefined for an open match. */
export function deriveConstraint({ state }: Pick<StoredMatch, 'state'>): 'same' | 'different' | undefined {
  return constraintsByState[state]
}

type NewMatchAssessment =
  | { readonly list: 'reviews'; readonly assessment: Omit<MatchReview, 'seq'> }
  | { readonly list: 'attestations'; readonly assessment: Omit<MatchAttestation, 'seq'> }

/**
 * Appends an assessment; returns the same value for a repeat with the same id. Refuses `idempotency_mismatch` for
 * another assessment under that id, and `wrong_state` above the limit of a match.
 */
export function addAssessment(current: StoredMatch, { list, assessment }: NewMatchAssessment): StoredMatch | Refusal {
  const assessments = [...current.reviews, ...current.attestations]
  const existing = assessments.find(({ id }) => id === assessment.id)
  if (existing) {
    const isSame = ['decision', 'reason', 'evidence', 'attester_id', 'confidence_adjustment'].every(
      (field) => existing[field as keyof typeof existing] === assessment[field as keyof typeof assessment],
    )
    return isSame ? current : refuseOtherRequest()
  }
  if (assessments.length >= max_assessments)
    return refuse('wrong_state', `the match has ${max_assessments} reviews and attestations, which is the limit`)
  const seq = assessments.length + 1
  const next =
    list === 'reviews'
      ? { ...current, reviews: [...current.reviews, { ...assessment, seq }] }
      : { ...current, attestations: [...current.attestations, { ...assessment, seq }] }
  return updateDecision(next, assessment.at)
}

/**
 * Applies the ruling of a consensus session. Within a session a higher number is newer; an older ruling changes
 * nothing.
 */
export function applyRuling(current: StoredMatch, ruling: MatchRuling): StoredMatch {
  const existing = current.rulings.find(({ session_id }) => session_id === ruling.session_id)
  if (existing && existing.seq >= ruling.seq) return current
  const others = current.rulings.filter((candidate) => candidate !== existing)
  return updateDecision({ ...current, rulings: [...others, ruling] }, ruling.at)
}

/** Finds the ruling whose session has been opened and has not ended. */
export function findOpenRuling({ rulings }: Pick<StoredMatch, 'rulings'>): MatchRuling | undefined {
  return rulings.find(({ status }) => status === 'open')
}

/** Whether a new session may be opened: none is open or ratified, and no person has decided. */
export function mayOpenSession({
  state,
  decided_by,
  rulings,
}: Pick<StoredMatch, 'state' | 'decided_by' | 'rulings'>): boolean {
  const isDecided = decided_by === 'human' && state !== 'deferred'
  return (
    !isDecided &&
    rulings.every(({ peer, status }) => peer !== undefined || status === 'retracted' || status === 'failed')
  )
}

/** Updates the decision, and marks the match as pending if its constraint on clusters changes. */
function updateDecision(next: StoredMatch, at: string): StoredMatch {
  const decision = deriveDecision(next)
  const hasChanged = deriveConstraint(decision) !== deriveConstraint(next)
  return { ...next, ...decision, updated_at: at, ...(hasChanged ? { owes: 1 as const } : {}) }
}
