// An audit record as administrators see it.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { artifactType } from '../artifact/view.ts'
import { auditActions, auditTriggers, evidence, scoreDecomposition } from './entry.ts'
import type { StoredAudit } from './model.ts'

export const auditView = z
  .strictObject({
    audit_id: z.string(),
    at: z.iso.datetime(),
    action: z.enum(auditActions),
    actor: z.string(),
    second_actor: z.string().optional().meta({ description: 'The other administrator, of an action that takes two' }),
    trigger: z.enum(auditTriggers),
    artifact_id: z.string().optional(),
    artifact_type: artifactType.optional(),
    before_version_id: z.string().optional(),
    after_version_id: z.string().optional(),
    related_drift_event_id: z.string().optional(),
    evaluator_score: z.number().optional(),
    score_decomposition: scoreDecomposition.optional(),
    upstream_artifact_ids: z.array(z.string()).optional(),
    rationale: z.string(),
    evidence_ref: evidence.optional(),
    indefinite: z.boolean(),
    admin_note: z.string().optional(),
    expires_at: z.iso.datetime().nullable().meta({ description: 'Null for a record that is kept without end' }),
    schema_version: z.literal(1),
    label: label.optional(),
  })
  .meta({ id: 'GuideAuditRecord' })

export function showAudit({ id, value }: Doc<StoredAudit>): z.output<typeof auditView> {
  const { tenant_id: _, uds: __, update_ts: ___, create_ts, expires_ts, ...record } = value
  const {
    score_l3_error: ____,
    score_l3_schema_mismatch: _____,
    score_user_feedback: ______,
    score_evaluator_confidence: _______,
    ...shown
  } = record
  return {
    ...{ audit_id: id, at: new Date(create_ts).toISOString(), ...shown },
    expires_at: expires_ts === undefined ? null : new Date(expires_ts).toISOString(),
  }
}
