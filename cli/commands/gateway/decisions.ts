// Lists the calls that guardrails have refused, from the audit log of the gateway.
import { denialRecords, readDenialRow } from '../../client/guardrail-rows.ts'
import { listCommand } from '../../program/list-command.ts'
import { instant, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'gateway decisions',
  summary: 'List the calls that guardrails have refused, newest first, from the audit log',
  notes:
    'Of calls beyond a rate or quota, the first in its window is recorded; "platform gateway quotas" counts the others.',
  options: {
    subject: text('SUBJECT', 'Only calls of this caller'),
    target: text('NAME', 'Only calls of this tool (service__tool), URI of a resource, or path of REST'),
    since: instant('TIME', 'Only at or after this time'),
    until: instant('TIME', 'Only before this time'),
  },
  example: 'platform gateway decisions --subject ann --since 2026-05-01',
  operation: denialRecords.operation,
  input: ({ subject, target, since, until }) => ({ ...denialRecords.input, subject, target, since, until }),
  columns: ['at', 'guardrail', 'reason', 'kind', 'subject', 'target'],
  row: readDenialRow,
  empty: 'the audit log has no call that a guardrail refused',
})
