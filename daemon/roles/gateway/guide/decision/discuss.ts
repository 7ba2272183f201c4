// Puts a decision up for discussion: what was decided, what speaks for the artifact and against it, and what an administrator can do.
import * as z from 'zod'
import { refuse } from '../../../../kernel/error/errors.ts'
import { operation } from '../../../../kernel/operation/operation.ts'
import { artifacts } from '../artifact/model.ts'
import { listActions } from '../artifact/rules.ts'
import { guideAudits } from '../audit/model.ts'
import { pageAudits } from '../audit/page-audits.ts'
import { auditView, showAudit } from '../audit/view.ts'
import { weighArtifact } from './weigh-artifact.ts'

const id = z.string().min(1).max(300)
const max_decisions = 5

export const discuss = operation({
  summary: 'Discuss a decision: what speaks for the artifact, what against it, and what can be done',
  method: 'GET',
  path: '/api/v1/guide/decisions/discussion',
  tool: 'guide_discuss_decision',
  surface: 'admin_chat',
  input: z.strictObject({
    artifact_id: id.optional(),
    audit_id: id.optional().meta({ description: 'Exactly one of artifact_id and audit_id' }),
  }),
  output: z
    .strictObject({
      artifact_id: z.string(),
      status: z.string().meta({ description: 'Of the artifact now; gone: it was deleted' }),
      for: z.array(z.string()),
      against: z.array(z.string()),
      actions: z.array(z.string()).meta({ description: 'That its status allows' }),
      decisions: z.array(auditView).meta({ description: 'The decision, or the last ones, the newest first' }),
    })
    .meta({ id: 'GuideDecisionDiscussion' }),
  errors: ['not_found'],
  allow: 'guide:admin',

  async run(call, { artifact_id, audit_id }) {
    if ((artifact_id === undefined) === (audit_id === undefined))
      return refuse('invalid', 'name exactly one of artifact_id and audit_id', [
        { path: 'artifact_id', message: 'or audit_id' },
      ])
    const audit = audit_id === undefined ? undefined : await call.store(guideAudits).get(audit_id)
    const about = artifact_id ?? audit?.value.artifact_id
    if (about === undefined)
      return refuse('invalid', 'the decision is on the curator, and on no artifact', [
        { path: 'audit_id', message: 'must be of a decision on an artifact' },
      ])
    // Of one that was deleted there are decisions still.
    const artifact =
      audit === undefined ? await call.store(artifacts).get(about) : await call.store(artifacts).find(about)
    const decisions = audit
      ? [showAudit(audit)]
      : (await pageAudits(call, { limit: max_decisions, equal: { artifact_id: about } })).items
    const weighed = artifact ? weighArtifact(artifact.value) : { for: [], against: [] }
    return {
      ...{ artifact_id: about, status: artifact?.value.status ?? 'gone' },
      ...{ for: [...weighed.for], against: [...weighed.against] },
      ...{ actions: artifact ? listActions(artifact.value.status) : [], decisions },
    }
  },
})
