// Lists the observations of the guidance layer.
import { listCommand } from '../../program/list-command.ts'
import { choice, flag, instant, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'guide memories',
  summary: 'List observations of calls and chat, newest first',
  options: {
    event: choice('EVENT', 'Only observations of this kind', [
      'intent_schema',
      'user_prompt',
      'llm_turn',
      'tool_output',
      'tool_error',
      'final_response',
      'user_feedback',
    ]),
    service: text('NAME', 'Only observations of this service'),
    trace: text('TRACE', 'Only observations of this trace'),
    conversation: text('ID', 'Only observations of this conversation'),
    review: flag('Only those whose caller is not the subject of the token'),
    since: instant('TIME', 'Only those stored at this time or later'),
    until: instant('TIME', 'Only those stored before this time'),
  },
  example: 'platform guide memories --event tool_error --since 2026-05-01',
  operation: 'gateway.guide.memory.list',
  input: ({ event, trace, conversation, review, ...filters }) => ({
    ...{ event_type: event, service: filters.service, trace_id: trace, conversation_id: conversation },
    ...{ since: filters.since, until: filters.until, ...(review ? { needs_review: true } : {}) },
  }),
  columns: [
    ...(['memory_id', 'created_at', 'event_type', 'service', 'trace_id'] as const),
    { heading: 'caller', cell: ({ caller_identity }) => (caller_identity as { username: string }).username },
  ],
  empty: 'no observations match',
})
