// Lists audit records of the guidance layer, the newest first.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { artifactType } from '../artifact/view.ts'
import { auditActions, auditTriggers, scoreTerms } from './entry.ts'
import { pageAudits } from './page-audits.ts'
import { auditView } from './view.ts'

const rate = z.number().min(0).max(1).optional()

export const list = operation({
  summary: 'List changes of artifacts and pauses of the curator, the newest first',
  method: 'GET',
  path: '/api/v1/guide/audit',
  tool: 'guide_query_audit',
  surface: 'admin_chat',
  input: z.strictObject({
    ...listFields,
    since: z.iso.datetime({ offset: true }).optional().meta({ description: 'Records at or after this time' }),
    until: z.iso.datetime({ offset: true }).optional().meta({ description: 'Records before this time' }),
    action: z.enum(auditActions).optional(),
    actor: z.string().min(1).max(300).optional(),
    trigger: z.enum(auditTriggers).optional(),
    artifact_id: z.string().min(1).max(300).optional(),
    artifact_type: artifactType.optional(),
    min_l3_error: rate.meta({ description: 'Records whose score has at least this much of the term' }),
    min_l3_schema_mismatch: rate,
    min_user_feedback: rate,
    min_evaluator_confidence: rate,
  }),
  output: pageSchema(auditView).meta({ id: 'GuideAuditPage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, since, until, ...filters }) {
    const { action, actor, trigger, artifact_id, artifact_type, ...least } = filters
    const terms = scoreTerms.map((term) => [`score_${term}`, least[`min_${term}`]] as const)
    return await pageAudits(call, {
      ...{ limit, cursor, since, until },
      equal: { action, actor, trigger, artifact_id, artifact_type },
      least: terms,
    })
  },
})
