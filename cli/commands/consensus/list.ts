// Lists sessions, newest first.
import { listChoices } from '../../client/operations.ts'
import { sessionColumns } from '../../format/session.ts'
import { listCommand } from '../../program/list-command.ts'
import { choice, flag, instant, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'consensus list',
  summary: 'List sessions, newest first',
  options: {
    state: choice('STATE', 'Only those in this state', await listChoices('consensus.session.list', 'state')),
    lens: text('ID', 'Only sessions of this lens'),
    correlationId: text('ID', 'Only sessions about the match with this correlation id'),
    deadlineBefore: instant('TIME', 'Only undecided sessions whose deadline is at or before this instant'),
    awaiting: text('CONTRIBUTOR', 'Only open sessions that await this contributor'),
    awaitingMe: flag('Only open sessions that await a contributor for whom you may submit'),
  },
  example: 'platform consensus list --awaiting-me',
  operation: 'consensus.session.list',
  input: (params) => ({
    state: params.state,
    lens_id: params.lens,
    correlation_id: params.correlationId,
    deadline_before: params.deadlineBefore,
    awaiting: params.awaiting,
    ...(params.awaitingMe ? { awaiting_me: true } : {}),
  }),
  columns: sessionColumns,
  empty: 'no sessions match',
})
