// Lists exchanges with peers, newest first.
import { listAllItems } from '../../../client/client.ts'
import { listChoices } from '../../../client/operations.ts'
import { exchangeColumns } from '../../../format/exchange.ts'
import { connectService, serviceOptions } from '../../../options/service-options.ts'
import { command } from '../../../program/command.ts'
import { choice, integer, withDefault } from '../../../program/params.ts'
import { formatTable, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'resolve exchange list',
  summary: 'List exchanges with peers, newest first',
  options: {
    state: choice(
      'STATE',
      'Only exchanges in this state; `proposed` waits for an answer',
      listChoices('resolution.exchange.list', 'state'),
    ),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve exchange list --state proposed',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'resolution.exchange.list', { state: params.state }, params.limit)
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, exchangeColumns, 'no exchanges match'),
    )
    return 0
  },
})
