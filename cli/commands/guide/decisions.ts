// Lists decisions of the curator, the evaluator and administrators.
import { auditColumns } from '../../format/guide.ts'
import { listCommand } from '../../program/list-command.ts'
import { instant, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'guide decisions',
  summary: 'List decisions on artifacts with their rationale, newest first',
  options: {
    artifact: text('ARTIFACT', 'Only decisions on this artifact'),
    trigger: text('TRIGGER', 'Only decisions with this trigger, such as drift_event or admin_manual'),
    since: instant('TIME', 'Only decisions at or after this time'),
  },
  example: 'platform guide decisions --trigger drift_event',
  operation: 'gateway.guide.decision.list',
  input: ({ artifact, trigger, since }) => ({ artifact_id: artifact, trigger, since }),
  columns: auditColumns,
  empty: 'no decisions match',
})
