// A match: two records that a lens found alike, what is known of it, and what people said of it.
import * as z from 'zod'
import { sha256 } from '../../../kernel/canonical.ts'
import { label } from '../../../kernel/label.ts'
import { collection, type Doc } from '../../../kernel/store.ts'
import { byLens, instant, type RecordRef, recordRef, uid, word } from '../fields.ts'

export const matchState = z.enum(['proposed', 'confirmed', 'rejected', 'deferred'])
export const decider = z.enum(['engine', 'consensus', 'human'])
export const decision = z.enum(['confirm', 'reject', 'defer'])

const adjustment = z.number().min(-1).max(1)

export const review = z
  .strictObject({
    by: word,
    at: instant,
    decision,
    reason: z.string().max(4_096).optional(),
    confidence_adjustment: adjustment.optional(),
  })
  .meta({ id: 'MatchReview' })

export const attestation = z
  .strictObject({
    attester_id: word,
    by: word,
    at: instant,
    decision,
    confidence_adjustment: adjustment.optional(),
    evidence: z.string().max(4_096).optional(),
  })
  .meta({ id: 'MatchAttestation' })

export const score = z
  .strictObject({
    bits: z.number().optional().meta({ description: 'Log-odds to base 2 that both are one' }),
    probability: z.number().min(0).max(1).optional().meta({ description: 'The same as a probability' }),
    likeness: z
      .number()
      .optional()
      .meta({ description: 'Between two clean sources of texts: what links are ranked by' }),
  })
  .meta({ id: 'MatchScore', description: 'Log-odds, or a likeness where the run went by texts' })
export type Score = z.infer<typeof score>

const said = {
  ...byLens,
  run_id: uid.meta({ description: 'The run that scored it last' }),
  left: recordRef,
  right: recordRef,
  score,
  linked: z.boolean().meta({ description: 'The run put both into one cluster' }),
  levels: z
    .array(z.strictObject({ field: word, outcome: z.int().min(0).max(255) }))
    .meta({ description: 'Of each field: 0 where one of both says nothing, 1 for equal, more for less alike' }),
  state: matchState,
  decided_by: decider,
  reviews: z.array(review),
  attestations: z.array(attestation),
  created_at: instant,
  updated_at: instant,
}

/** `rank`: the score as one number, of whichever kind; matches of a run are listed by it. */
export const storedMatch = z.strictObject({ tenant_id: z.string(), label, ...said, rank: z.number() })
export type StoredMatch = z.infer<typeof storedMatch>

export const entityMatches = collection({
  name: 'entity_match',
  schema: storedMatch,
  indexes: ['lens', 'lens_id', 'run_id', 'state', 'decided_by', 'rank', 'created_at'],
})

/** By node, then by record, as code units: the order in which a match names its two records. */
export function inOrder(one: RecordRef, other: RecordRef): readonly [RecordRef, RecordRef] {
  const isFirst = one.node_id < other.node_id || (one.node_id === other.node_id && one.record_id <= other.record_id)
  return isFirst ? [one, other] : [other, one]
}

/** The same two records under one lens are one match, whichever run finds them. */
export function matchUid(tenant_id: string, lens: string, one: RecordRef, other: RecordRef): string {
  const [left, right] = inOrder(one, other)
  const said = [tenant_id, lens, left.node_id, left.record_id, right.node_id, right.record_id]
  return `match_${sha256(JSON.stringify(said)).slice(0, 32)}`
}

export const matchView = z
  .strictObject({
    uid,
    correlation_id: uid,
    version: z.int().min(1),
    tenant_id: z.string(),
    classification: label,
    ...said,
  })
  .meta({ id: 'EntityMatch' })
export type MatchView = z.infer<typeof matchView>

export const matchSummary = z
  .strictObject({ uid, left: recordRef, right: recordRef, score, linked: z.boolean(), state: matchState })
  .meta({ id: 'EntityMatchSummary' })

export function shown({ id, version, value }: Doc<StoredMatch>): MatchView {
  const { label: classification, rank: _rank, ...rest } = value
  return { uid: id, correlation_id: id, version, classification, ...rest }
}

export function short({ id, value }: Doc<StoredMatch>): z.infer<typeof matchSummary> {
  const { left, right, score: of, linked, state } = value
  return { uid: id, left, right, score: of, linked, state }
}
