// The entry of one action in the audit records of the guidance layer (document 002, "Audit record").
import * as z from 'zod'
import { type ArtifactType, artifactTypes } from '../artifact/content.ts'

export const auditActions = [
  'promote',
  'demote',
  'forget',
  'edit',
  'rollback',
  'compact',
  'drift_hold',
  'upstream_flag',
  'pause_curator',
  'resume_curator',
] as const
export type AuditAction = (typeof auditActions)[number]

export const auditTriggers = [
  'evaluator_score_below_threshold',
  'l3_performance_cascade',
  'drift_event',
  'admin_manual',
  'synthesis_proposal',
] as const
export type AuditTrigger = (typeof auditTriggers)[number]

const id = z.string().min(1).max(300)
const rate = z.number().min(0).max(1)

export const scoreTerms = ['l3_error', 'l3_schema_mismatch', 'user_feedback', 'evaluator_confidence'] as const
export const scoreDecomposition = z.strictObject({
  l3_error: rate,
  l3_schema_mismatch: rate,
  user_feedback: rate,
  evaluator_confidence: rate,
})
export type ScoreDecomposition = z.infer<typeof scoreDecomposition>

export const evidence = z.strictObject({
  observations: z.array(id).max(256),
  graph_snapshot_id: id.optional(),
  related_audit_ids: z.array(id).max(256),
})
export type Evidence = z.infer<typeof evidence>

const max_rationale_characters = 8_192

/** `admin:<subject>` for people. */
const actor = z.string().regex(/^(curator_auto|evaluator_auto|admin:.{1,290})$/su)

/** Supplied by the party that acts; the rest follows from the action. */
const groundFields = {
  /** Of an action that two administrators have decided on. */
  second_actor: actor.optional(),
  trigger: z.enum(auditTriggers),
  related_drift_event_id: id.optional(),
  evaluator_score: rate.optional(),
  score_decomposition: scoreDecomposition.optional(),
  upstream_artifact_ids: z.array(id).max(256).optional(),
  evidence_ref: evidence.optional(),
  admin_note: z.string().min(1).max(max_rationale_characters).optional(),
}

/** As it is stored with the change, before it gets its time of expiry. */
export const auditEntry = z.strictObject({
  ...groundFields,
  action: z.enum(auditActions),
  actor,
  artifact_id: id.optional(),
  artifact_type: z.enum(artifactTypes as [ArtifactType, ...ArtifactType[]]).optional(),
  before_version_id: id.optional(),
  after_version_id: id.optional(),
  rationale: z.string().min(1).max(max_rationale_characters),
  at: z.number(),
})
export type AuditEntry = z.infer<typeof auditEntry>

const ground = z.strictObject({ ...groundFields, actor, rationale: auditEntry.shape.rationale.optional() })

/** The party that changes something, and its grounds; without a rationale, the action is described by a template. */
export type ChangeGround = z.infer<typeof ground>

const indefinite_actions: ReadonlySet<AuditAction> = new Set(['forget', 'pause_curator', 'resume_curator', 'rollback'])

/** Records of these are never deleted. */
export const isIndefinite = (action: AuditAction): boolean => indefinite_actions.has(action)

export const isAdmin = ({ actor: by }: Pick<ChangeGround, 'actor'>): boolean => by.startsWith('admin:')
