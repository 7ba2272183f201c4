// Lists the audit records of the guidance layer.
import { auditColumns } from '../../format/guide.ts'
import { listCommand } from '../../program/list-command.ts'
import { decimal, instant, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'guide audit',
  summary: 'List changes of artifacts and pauses of the curator, newest first',
  options: {
    action: text('ACTION', 'Only this action, such as promote, demote or pause_curator'),
    actor: text('ACTOR', 'Only changes by this actor, such as curator_auto or admin:ann'),
    trigger: text('TRIGGER', 'Only changes with this trigger, such as drift_event or admin_manual'),
    artifact: text('ARTIFACT', 'Only changes of this artifact'),
    type: text('TYPE', 'Only changes of artifacts of this type'),
    since: instant('TIME', 'Only records at or after this time'),
    until: instant('TIME', 'Only records before this time'),
    minL3Error: decimal('RATE', 'Only records whose score lost at least this much by errors of tools', 0, 1),
    minUserFeedback: decimal('RATE', 'Only records whose score lost at least this much by feedback', 0, 1),
  },
  example: 'platform guide audit --actor evaluator_auto --since 2026-05-01',
  operation: 'gateway.guide.audit.list',
  input: ({ action, actor, trigger, artifact, type, since, until, minL3Error, minUserFeedback }) => ({
    ...{ action, actor, trigger, artifact_id: artifact, artifact_type: type, since, until },
    ...{ min_l3_error: minL3Error, min_user_feedback: minUserFeedback },
  }),
  columns: auditColumns,
  empty: 'no records match',
})
