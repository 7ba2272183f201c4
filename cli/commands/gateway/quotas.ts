// Lists the calls of each caller by tool, and what is left of its quotas.
import { formatQuotas } from '../../client/guardrail-rows.ts'
import { listCommand } from '../../program/list-command.ts'
import { choice, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'gateway quotas',
  summary: 'List the calls of each caller by tool within a day, and how much of its quotas is used and left',
  notes: [
    'By caller, then by tool or service. A quota is a guardrail with calls_per_minute or calls_per_day. It counts the calls of',
    'a caller to all its tools together that went on. Only administrators see the callers, those of their tenant.',
  ].join('\n'),
  options: {
    subject: text('SUBJECT', 'Only the calls of this caller'),
    kind: choice('KIND', 'Only calls of this kind', ['rest', 'tool', 'chat', 'resource']),
    target: text('NAME', 'Only calls of this tool (service__tool), or of this service: REST, resources'),
  },
  example: 'platform gateway quotas --subject ann',
  operation: 'gateway.quota.list',
  input: ({ subject, kind, target }) => ({ subject, kind, target }),
  columns: [
    ...(['subject', 'kind', 'target', 'calls', 'refused', 'left'] as const),
    { heading: 'quotas', cell: ({ quotas }) => formatQuotas(quotas) },
  ],
  empty: 'the gateway has counted no calls within a day',
})
