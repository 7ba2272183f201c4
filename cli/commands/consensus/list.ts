// Lists sessions, newest first.
import { listAllItems } from '../../client/client.ts'
import { listChoices } from '../../client/operations.ts'
import { sessionColumns } from '../../format/session.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'consensus list',
  summary: 'List sessions, newest first',
  options: {
    state: choice('STATE', 'Only those in this state', listChoices('consensus.session.list', 'state')),
    lens: text('ID', 'Only sessions of this lens'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform consensus list --state IN_CONFLICT',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(
      api,
      'consensus.session.list',
      { state: params.state, lens_id: params.lens },
      params.limit,
    )
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, sessionColumns, 'no sessions match'),
    )
    return 0
  },
})
