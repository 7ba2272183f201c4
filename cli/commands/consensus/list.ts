// Lists sessions, newest first.
import { listAllItems } from '../../client/client.ts'
import { listChoices } from '../../client/operations.ts'
import { sessionColumns } from '../../format/session.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, flag, instant, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus list',
  summary: 'List sessions, newest first',
  options: {
    state: choice('STATE', 'Only those in this state', listChoices('consensus.session.list', 'state')),
    lens: text('ID', 'Only sessions of this lens'),
    correlationId: text('ID', 'Only sessions about the match with this correlation id'),
    deadlineBefore: instant('TIME', 'Only undecided sessions whose deadline is at or before this instant'),
    awaiting: text('CONTRIBUTOR', 'Only open sessions that await this contributor'),
    awaitingMe: flag('Only open sessions that await a contributor for whom you may submit'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform consensus list --awaiting-me',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(
      api,
      'consensus.session.list',
      {
        state: params.state,
        lens_id: params.lens,
        correlation_id: params.correlationId,
        deadline_before: params.deadlineBefore,
        awaiting: params.awaiting,
        ...(params.awaitingMe ? { awaiting_me: true } : {}),
      },
      params.limit,
    )
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, sessionColumns, 'no sessions match'),
    )
    return 0
  },
})
