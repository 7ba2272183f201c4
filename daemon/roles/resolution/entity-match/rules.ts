// What stands of a match after all that was said of it: people before consensus, consensus before the engine.
import type * as z from 'zod'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { refuseOtherRequest } from '../../../kernel/operation/check-repeated-request.ts'
import type { MatchRuling, matchAttestation, matchReview, matchState, StoredMatch } from './model.ts'

type MatchReview = z.infer<typeof matchReview>
type MatchAttestation = z.infer<typeof matchAttestation>
type MatchDecision = Pick<StoredMatch, 'state' | 'decided_by'>
type MatchAssessments = Pick<StoredMatch, 'reviews' | 'attestations' | 'rulings'>

/** More than people say of two records; a machine that says more is at fault. */
const max_assessments = 1_000

/**
 * The last word of a person counts: confirm and reject decide, defer takes back what people said before, so that the latest
 * ruling of a consensus session counts in its place, and the engine where there is none.
 */
export function deriveDecision({ reviews, attestations, rulings }: MatchAssessments): MatchDecision {
  const last = [...reviews, ...attestations].reduce<MatchReview | MatchAttestation | undefined>(
    (latest, word) => (latest && latest.seq > word.seq ? latest : word),
    undefined,
  )
  if (last?.decision === 'confirm') return { state: 'confirmed', decided_by: 'human' }
  if (last?.decision === 'reject') return { state: 'rejected', decided_by: 'human' }
  const ruled = rulings
    .filter(({ status }) => status === 'ratified')
    .sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : one.session_id < other.session_id ? 1 : -1))
  const [latest] = ruled
  if (latest) return { state: latest.decision === 'match' ? 'confirmed' : 'rejected', decided_by: 'consensus' }
  return last ? { state: 'deferred', decided_by: 'human' } : { state: 'proposed', decided_by: 'engine' }
}

const constraintsByState: Readonly<Record<z.infer<typeof matchState>, 'same' | 'different' | undefined>> = {
  confirmed: 'same',
  rejected: 'different',
  proposed: undefined,
  deferred: undefined,
}

/** What the decision asks of the clusters; undefined where nothing is decided. */
export function deriveConstraint({ state }: Pick<StoredMatch, 'state'>): 'same' | 'different' | undefined {
  return constraintsByState[state]
}

type NewMatchAssessment =
  | { readonly list: 'reviews'; readonly assessment: Omit<MatchReview, 'seq'> }
  | { readonly list: 'attestations'; readonly assessment: Omit<MatchAttestation, 'seq'> }

/**
 * Appends what a person said; the same value for the same word again, known by its id. Refuses `idempotency_mismatch` for
 * another word under that id, `wrong_state` for more words than a match takes.
 */
export function addAssessment(current: StoredMatch, { list, assessment }: NewMatchAssessment): StoredMatch | Refusal {
  const words = [...current.reviews, ...current.attestations]
  const known = words.find(({ id }) => id === assessment.id)
  if (known) {
    const isSame = ['decision', 'reason', 'evidence', 'attester_id', 'confidence_adjustment'].every(
      (field) => known[field as keyof typeof known] === assessment[field as keyof typeof assessment],
    )
    return isSame ? current : refuseOtherRequest()
  }
  if (words.length >= max_assessments)
    return refuse('wrong_state', `the match has ${max_assessments} reviews and attestations`)
  const seq = words.length + 1
  const next =
    list === 'reviews'
      ? { ...current, reviews: [...current.reviews, { ...assessment, seq }] }
      : { ...current, attestations: [...current.attestations, { ...assessment, seq }] }
  return updateDecision(next, assessment.at)
}

/**
 * Takes in what a consensus session says. Of one session a higher number is newer, and an older word changes nothing.
 */
export function applyRuling(current: StoredMatch, ruling: MatchRuling): StoredMatch {
  const known = current.rulings.find(({ session_id }) => session_id === ruling.session_id)
  if (known && known.seq >= ruling.seq) return current
  const others = current.rulings.filter((each) => each !== known)
  return updateDecision({ ...current, rulings: [...others, ruling] }, ruling.at)
}

/** Whether a new session may be opened: none is open or stands, and no person has decided. */
export function mayOpenSession({
  state,
  decided_by,
  rulings,
}: Pick<StoredMatch, 'state' | 'decided_by' | 'rulings'>): boolean {
  const isDecided = decided_by === 'human' && state !== 'deferred'
  return !isDecided && rulings.every(({ status }) => status === 'retracted' || status === 'failed')
}

/** The state that follows from what was said; clusters are owed where it asks something else of them than before. */
function updateDecision(next: StoredMatch, at: string): StoredMatch {
  const standing = deriveDecision(next)
  const isOwed = deriveConstraint(standing) !== deriveConstraint(next)
  return { ...next, ...standing, updated_at: at, ...(isOwed ? { owes: 1 as const } : {}) }
}
