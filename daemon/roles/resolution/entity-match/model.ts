// A match: two records that a lens found alike, what is known of it, and what people said of it.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { instant, lensVersionFields, type RecordRef, recordRef, shortText, uid } from '../fields.ts'
import { consultation } from './consultation.ts'
import { orderRefs } from './order-refs.ts'

export const matchState = z.enum(['proposed', 'confirmed', 'rejected', 'deferred'])
export const decider = z.enum(['engine', 'consensus', 'human'])
export const decision = z.enum(['confirm', 'reject', 'defer'])

const confidenceAdjustment = z
  .number()
  .min(-1)
  .max(1)
  .meta({ description: 'Added to the probability where confidence is told' })

/** `seq`: of all that people said of the match, the how-manieth; the last word counts. */
const assessmentFields = { id: shortText, seq: z.int().min(1), by: shortText, at: instant }

export const matchReview = z
  .strictObject({
    ...assessmentFields,
    decision,
    reason: z.string().max(4_096).optional(),
    confidence_adjustment: confidenceAdjustment.optional(),
  })
  .meta({ id: 'MatchReview' })

export const matchAttestation = z
  .strictObject({
    ...assessmentFields,
    attester_id: shortText,
    decision,
    confidence_adjustment: confidenceAdjustment.optional(),
    evidence: z.string().max(4_096).optional(),
  })
  .meta({ id: 'MatchAttestation' })

export const matchRuling = z
  .strictObject({
    session_id: shortText,
    seq: z.int().min(0).meta({ description: 'Number of the session’s event that it comes from; 0 while it is open' }),
    status: z.enum(['open', 'ratified', 'retracted', 'failed']),
    at: instant,
    decision: z.enum(['match', 'non_match']).optional(),
    score: z.number().nullable().optional(),
    attested: z.boolean().optional(),
    evidence_block_id: shortText.optional(),
    reason: z.string().max(1_024).optional().meta({ description: 'Why no session could be opened' }),
  })
  .meta({ id: 'MatchRuling', description: 'What a consensus session says of the match' })
export type MatchRuling = z.infer<typeof matchRuling>

export const matchScore = z
  .strictObject({
    bits: z.number().optional().meta({ description: 'Log-odds to base 2 that both are one' }),
    probability: z.number().min(0).max(1).optional().meta({ description: 'The same as a probability' }),
    likeness: z
      .number()
      .optional()
      .meta({ description: 'Between two clean sources of texts: what links are ranked by' }),
  })
  .meta({ id: 'MatchScore', description: 'Log-odds, or a likeness where the run went by texts' })
export type MatchScore = z.infer<typeof matchScore>

const matchFields = {
  ...lensVersionFields,
  run_id: uid.meta({ description: 'The run that scored it last' }),
  left: recordRef,
  right: recordRef,
  score: matchScore,
  linked: z.boolean().meta({ description: 'Both are in one cluster' }),
  overruled: z.boolean().optional().meta({ description: 'Confirmed, and yet apart: a rejected match forbids it' }),
  levels: z
    .array(
      z.strictObject({
        field: shortText,
        outcome: z.int().min(0).max(255),
        bits: z.number().optional().meta({ description: 'Weight of the outcome, as log-odds to base 2' }),
        frequency_bits: z.number().optional().meta({ description: 'What an equal value adds for being rare' }),
      }),
    )
    .meta({ description: 'Of each field: 0 where one of both says nothing, 1 for equal, more for less alike' }),
  prior_bits: z.number().optional().meta({ description: 'Log-odds to base 2 before any field is seen' }),
  state: matchState,
  decided_by: decider,
  reviews: z.array(matchReview),
  attestations: z.array(matchAttestation),
  rulings: z.array(matchRuling),
  created_at: instant,
  updated_at: instant,
}

const flag = z.union([z.literal(0), z.literal(1)])

export const storedMatch = z.strictObject({
  tenant_id: z.string(),
  label,
  ...matchFields,
  /** The score as one number, of whichever kind; matches of a run are listed by it. */
  rank: z.number(),
  /** How far the rank is above the lowest that counts, as clustering takes it. */
  above: z.number(),
  /** Of the two records, where an index finds them. */
  left_uid: uid,
  right_uid: uid,
  /** Of a likeness, as a probability: what its distance from the cut says. */
  chance: z.number().min(0).max(1).optional(),
  /** How much a decision of a person is worth, as long as nobody has decided. */
  worth: z.number(),
  /** 1 while a decision is not in the clusters yet; an index, so that the worker finds it. */
  owes: flag,
  /** 1 while a consensus session is still to be opened, as `consultWorker` says. */
  asks: flag,
  consult: consultation.optional(),
})
export type StoredMatch = z.infer<typeof storedMatch>

export const entityMatches = collection({
  name: 'entity_match',
  schema: storedMatch,
  indexes: [
    'lens',
    'lens_id',
    'run_id',
    'state',
    'decided_by',
    'rank',
    'created_at',
    'left_uid',
    'right_uid',
    'worth',
    'overruled',
    'owes',
    'asks',
  ],
})

/** The same two records under one lens are one match, whichever run finds them. */
export function matchUid(tenant_id: string, lens: string, one: RecordRef, other: RecordRef): string {
  const [left, right] = orderRefs(one, other)
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
    ...matchFields,
    confidence: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({ description: 'The probability with what people adjusted it by' }),
    settled: z.boolean().meta({ description: 'Whether the clusters hold what was decided' }),
  })
  .meta({ id: 'EntityMatch' })
export type MatchView = z.infer<typeof matchView>

export const matchSummary = z
  .strictObject({ uid, left: recordRef, right: recordRef, score: matchScore, linked: z.boolean(), state: matchState })
  .meta({ id: 'EntityMatchSummary' })

export function showMatch({ id, version, value }: Doc<StoredMatch>): MatchView {
  const {
    label: classification,
    rank: _rank,
    above: _above,
    left_uid: _left,
    right_uid: _right,
    chance: _chance,
    worth: _worth,
    owes,
    asks: _asks,
    consult: _consult,
    ...rest
  } = value
  const confidence = computeConfidence(value)
  const told = confidence === undefined ? rest : { ...rest, confidence }
  return { uid: id, correlation_id: id, version, classification, ...told, settled: owes === 0 }
}

/** Held between 0 and 1; undefined where the score is no probability. */
function computeConfidence({ score: { probability }, reviews, attestations }: StoredMatch): number | undefined {
  if (probability === undefined) return undefined
  const words = [...reviews, ...attestations]
  const adjusted = words.reduce((sum, { confidence_adjustment = 0 }) => sum + confidence_adjustment, probability)
  return Math.min(1, Math.max(0, adjusted))
}

export function summariseMatch({ id, value }: Doc<StoredMatch>): z.infer<typeof matchSummary> {
  const { left, right, score: of, linked, state } = value
  return { uid: id, left, right, score: of, linked, state }
}
