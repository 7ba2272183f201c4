// Audit records of the guidance layer: each change of an artifact and each pause of the curator, with its rationale.
import * as z from 'zod'
import { collection } from '../../../../kernel/store/store.ts'
import { documentFields } from '../document-fields.ts'
import { auditEntry, scoreTerms } from './entry.ts'

const { at: _, ...entryFields } = auditEntry.shape

const storedAudit = z.strictObject({
  ...documentFields,
  ...entryFields,
  indefinite: z.boolean(),
  /** Absent for a record that is kept without end. */
  expires_ts: z.number().optional(),
  /** Terms of the score once more: stores filter by fields of the document itself. */
  score_l3_error: z.number().optional(),
  score_l3_schema_mismatch: z.number().optional(),
  score_user_feedback: z.number().optional(),
  score_evaluator_confidence: z.number().optional(),
})
export type StoredAudit = z.infer<typeof storedAudit>

/** Of a change of an artifact: under the id of the version that it made. `create_ts`: of the action; `update_ts`: when it was stored. */
export const guideAudits = collection({
  name: 'guide_audit',
  schema: storedAudit,
  indexes: [
    'create_ts',
    'update_ts',
    'action',
    'actor',
    'trigger',
    'artifact_id',
    'artifact_type',
    ...scoreTerms.map((term) => `score_${term}` as const),
  ],
  orders: [['artifact_id', 'create_ts']],
  documented: {
    alias: 'guide_audit',
    fields: {
      create_ts: 'create_ts',
      action: 'action',
      actor: 'actor',
      trigger: 'trigger',
      artifact_id: 'artifact_id',
      artifact_type: 'artifact_type',
      'score_decomposition.l3_error': 'score_l3_error',
      'score_decomposition.l3_schema_mismatch': 'score_l3_schema_mismatch',
      'score_decomposition.user_feedback': 'score_user_feedback',
      'score_decomposition.evaluator_confidence': 'score_evaluator_confidence',
    },
  },
})
