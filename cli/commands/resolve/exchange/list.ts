// Lists exchanges with peers, newest first.
import { listed } from '../../../client/client.ts'
import { choicesOf } from '../../../client/operations.ts'
import { command } from '../../../command.ts'
import { exchangeColumns } from '../../../exchange-text.ts'
import { show, table } from '../../../output.ts'
import { choice, otherwise, whole } from '../../../params.ts'
import { service, serviceOptions } from '../../../service.ts'

export const definition = command({
  words: 'resolve exchange list',
  summary: 'list exchanges with peers, newest first',
  options: {
    state: choice(
      'STATE',
      'only those in this state; `proposed` waits for an answer',
      choicesOf('resolution.exchange.list', 'state'),
    ),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve exchange list --state proposed',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'resolution.exchange.list', { state: given.state }, given.limit)
    show(terminal, given.json, { items }, () => table(terminal, items, exchangeColumns, 'there are no such exchanges'))
    return 0
  },
})
