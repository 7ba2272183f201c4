// A match: two records that a lens found similar, their score, and the assessments and rulings about them.
import * as z from 'zod'
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { storedPrincipal } from '../../../kernel/identity/delegation.ts'
import { label } from '../../../kernel/label/label.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { instant, lensVersionFields, type RecordRef, recordRef, shortText, uid } from '../fields.ts'
import { orderRefs } from '../order-refs.ts'
import { consultation } from './consultation.ts'

export const matchState = z.enum(['proposed', 'confirmed', 'rejected', 'deferred'])
export const decider = z.enum(['engine', 'consensus', 'human'])
export const decision = z.enum(['confirm', 'reject', 'defer'])

const confidenceAdjustment = z
  .number()
  .min(-1)
  .max(1)
  .meta({ description: 'Added to the probability in the confidence of the match' })

/** `seq`: 1-based position among all reviews and attestations of the match; the last one counts. */
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

const matchRuling = z
  .strictObject({
    session_id: shortText,
    peer: shortText.optional().meta({ description: 'The peer that decided; absent: a session of this site' }),
    seq: z
      .int()
      .min(0)
      .meta({ description: 'Number of the session event of this ruling; 0 while the session is open' }),
    status: z.enum(['open', 'ratified', 'retracted', 'failed']),
    at: instant,
    decision: z.enum(['match', 'non_match']).optional(),
    score: z.number().nullable().optional(),
    attested: z.boolean().optional(),
    evidence_block_id: shortText.optional(),
    reason: z.string().max(1_024).optional().meta({ description: 'Reason why no session could be opened' }),
  })
  .meta({ id: 'MatchRuling', description: 'Ruling of a consensus session on the match' })
export type MatchRuling = z.infer<typeof matchRuling>

export const matchScore = z
  .strictObject({
    bits: z.number().optional().meta({ description: 'Log-odds to base 2 that both records are the same entity' }),
    probability: z.number().min(0).max(1).optional().meta({ description: 'The log-odds as a probability' }),
    likeness: z.number().optional().meta({ description: 'Text similarity that ranks links between two clean sources' }),
  })
  .meta({ id: 'MatchScore', description: 'Log-odds, or a text similarity where the run compared texts' })
export type MatchScore = z.infer<typeof matchScore>

const matchFields = {
  ...lensVersionFields,
  run_id: uid.meta({ description: 'The latest run that scored the match' }),
  left: recordRef,
  right: recordRef,
  score: matchScore,
  linked: z.boolean().meta({ description: 'Whether both records are in one cluster' }),
  overruled: z
    .boolean()
    .optional()
    .meta({ description: 'Whether the match is confirmed but a rejected match keeps its records apart' }),
  levels: z
    .array(
      z.strictObject({
        field: shortText,
        outcome: z.int().min(0).max(255),
        bits: z.number().optional().meta({ description: 'Weight of the outcome, as log-odds to base 2' }),
        frequency_bits: z.number().optional().meta({ description: 'Added for an equal value that is rare' }),
      }),
    )
    .meta({
      description: 'For each field: 0 where a record has no value, 1 for equal values, higher for less similar ones',
    }),
  prior_bits: z.number().optional().meta({ description: 'Log-odds to base 2 before any field is compared' }),
  found_by: z.array(z.string()).optional().meta({
    description: 'Blocking rules or keys by which the pair was found; absent for a match of an earlier release',
  }),
  state: matchState,
  decided_by: decider,
  reviews: z.array(matchReview),
  attestations: z.array(matchAttestation),
  rulings: z.array(matchRuling),
  created_at: instant,
  updated_at: instant,
}

const flag = z.union([z.literal(0), z.literal(1)])

const storedMatch = z.strictObject({
  tenant_id: z.string(),
  label,
  ...matchFields,
  /** The score as one number of either scale; matches are listed by it. */
  rank: z.number(),
  /** Height of the rank above the floor; clustering uses it. */
  above: z.number(),
  /** The uids of the two records, as indexes. */
  left_uid: uid,
  right_uid: uid,
  /** The probability of a text similarity, from its distance to the cut. */
  chance: z.number().min(0).max(1).optional(),
  /** Review worth of the match; 0 once the match is decided. */
  worth: z.number(),
  /** 1 while a decision is not applied to the clusters; an index, so that the worker finds the match. */
  owes: flag,
  /** 1 while a consensus session must still be opened, by the parameters in `consult`. */
  asks: flag,
  consult: consultation
    .extend({
      /** The person who requested it or its run, in whose name the session is opened; absent: the role opens it. */
      principal: storedPrincipal.optional(),
      /** The run whose person it is: the grant is for all matches that the run sends to consensus. Absent: for this match. */
      run_id: uid.optional(),
    })
    .optional(),
})
export type StoredMatch = z.infer<typeof storedMatch>

export const entityMatches = collection({
  name: 'entity_match',
  schema: storedMatch,
  documented: { alias: 'fusion', fields: { uid: 'id', correlation_id: 'id', run_id: 'run_id' } },
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

/** Derives the id from tenant, lens and records, so that every run finds the same match. */
export function matchUid(tenant_id: string, lens: string, first: RecordRef, second: RecordRef): string {
  const [left, right] = orderRefs(first, second)
  const parts = [tenant_id, lens, left.node_id, left.record_id, right.node_id, right.record_id]
  return `match_${sha256(JSON.stringify(parts)).slice(0, 32)}`
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
      .meta({ description: 'The probability, adjusted by reviews and attestations' }),
    settled: z.boolean().meta({ description: 'Whether the decision is applied to the clusters' }),
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
  const fields = confidence === undefined ? rest : { ...rest, confidence }
  return { uid: id, correlation_id: id, version, classification, ...fields, settled: owes === 0 }
}

/** Computes the confidence, clamped to 0 to 1; undefined where the score is not a probability. */
function computeConfidence({ score: { probability }, reviews, attestations }: StoredMatch): number | undefined {
  if (probability === undefined) return undefined
  const assessments = [...reviews, ...attestations]
  const adjusted = assessments.reduce((sum, { confidence_adjustment = 0 }) => sum + confidence_adjustment, probability)
  return Math.min(1, Math.max(0, adjusted))
}

export function summariseMatch({ id, value }: Doc<StoredMatch>): z.infer<typeof matchSummary> {
  const { left, right, score, linked, state } = value
  return { uid: id, left, right, score, linked, state }
}
