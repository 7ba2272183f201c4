// Lists decisions on artifacts: the changes of the curator, the evaluator and administrators, the newest first.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { listFields, pageSchema } from '../../../../kernel/operation/paging.ts'
import { auditTriggers } from '../audit/entry.ts'
import { pageAudits } from '../audit/page-audits.ts'
import { auditView } from '../audit/view.ts'

export const list = operation({
  summary: 'List decisions on artifacts with their rationale, the newest first',
  method: 'GET',
  path: '/api/v1/guide/decisions',
  tool: 'guide_list_decisions',
  surface: 'admin_chat',
  input: z.strictObject({
    ...listFields,
    artifact_id: z.string().min(1).max(300).optional(),
    since: z.iso.datetime({ offset: true }).optional(),
    trigger: z.enum(auditTriggers).optional(),
  }),
  output: pageSchema(auditView).meta({ id: 'GuideDecisionPage' }),
  errors: [],
  allow: 'guide:admin',

  async run(call, { limit, cursor, since, artifact_id, trigger }) {
    return await pageAudits(call, { limit, cursor, since, equal: { artifact_id, trigger } })
  },
})
