// What stands of a match after all that was said of it: people before consensus, consensus before the engine.
import type * as z from 'zod'
import { type Refused, refuse } from '../../../kernel/errors.ts'
import type { attestation, matchState, Ruling, review, StoredMatch } from './model.ts'

type Review = z.infer<typeof review>
type Attestation = z.infer<typeof attestation>
type Standing = Pick<StoredMatch, 'state' | 'decided_by'>
type Words = Pick<StoredMatch, 'reviews' | 'attestations' | 'rulings'>

/** More than people say of two records; a machine that says more is at fault. */
const most_words = 1_000

/**
 * The last word of a person counts: confirm and reject decide, defer takes back what people said before, so that the latest
 * ruling of a consensus session counts in its place, and the engine where there is none.
 */
export function standingOf({ reviews, attestations, rulings }: Words): Standing {
  const last = [...reviews, ...attestations].reduce<Review | Attestation | undefined>(
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

const constraints: Readonly<Record<z.infer<typeof matchState>, 'same' | 'different' | undefined>> = {
  confirmed: 'same',
  rejected: 'different',
  proposed: undefined,
  deferred: undefined,
}

/** What the decision asks of the clusters; undefined where nothing is decided. */
export function constraintOf({ state }: Pick<StoredMatch, 'state'>): 'same' | 'different' | undefined {
  return constraints[state]
}

type Spoken =
  | { readonly of: 'reviews'; readonly word: Omit<Review, 'seq'> }
  | { readonly of: 'attestations'; readonly word: Omit<Attestation, 'seq'> }

/**
 * Appends what a person said; the same value for the same word again, known by its id. Refuses `idempotency_mismatch` for
 * another word under that id, `wrong_state` for more words than a match takes.
 */
export function said(current: StoredMatch, { of, word }: Spoken): StoredMatch | Refused {
  const words = [...current.reviews, ...current.attestations]
  const known = words.find(({ id }) => id === word.id)
  if (known) {
    const isSame = ['decision', 'reason', 'evidence', 'attester_id', 'confidence_adjustment'].every(
      (field) => known[field as keyof typeof known] === word[field as keyof typeof word],
    )
    return isSame ? current : refuse('idempotency_mismatch', 'the idempotency key was used with another request')
  }
  if (words.length >= most_words) return refuse('wrong_state', `the match has ${most_words} reviews and attestations`)
  const seq = words.length + 1
  const next =
    of === 'reviews'
      ? { ...current, reviews: [...current.reviews, { ...word, seq }] }
      : { ...current, attestations: [...current.attestations, { ...word, seq }] }
  return restated(next, word.at)
}

/**
 * Takes in what a consensus session says. Of one session a higher number is newer, and an older word changes nothing.
 */
export function ruled(current: StoredMatch, given: Ruling): StoredMatch {
  const known = current.rulings.find(({ session_id }) => session_id === given.session_id)
  if (known && known.seq >= given.seq) return current
  const others = current.rulings.filter((each) => each !== known)
  return restated({ ...current, rulings: [...others, given] }, given.at)
}

/** Whether a new session may be opened: none is open or stands, and no person has decided. */
export function maySitAgain({
  state,
  decided_by,
  rulings,
}: Pick<StoredMatch, 'state' | 'decided_by' | 'rulings'>): boolean {
  const isDecided = decided_by === 'human' && state !== 'deferred'
  return !isDecided && rulings.every(({ status }) => status === 'retracted' || status === 'failed')
}

/** The state that follows from what was said; clusters are owed where it asks something else of them than before. */
function restated(next: StoredMatch, at: string): StoredMatch {
  const standing = standingOf(next)
  const isOwed = constraintOf(standing) !== constraintOf(next)
  return { ...next, ...standing, updated_at: at, ...(isOwed ? { owes: 1 as const } : {}) }
}
