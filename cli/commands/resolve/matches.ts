// Lists matches of the service, the most certain first.
import { listAllItems } from '../../client/client.ts'
import { listChoices } from '../../client/operations.ts'
import { formatMatchRow } from '../../format/match.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { choice, integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve matches',
  summary: 'List matches of the service, the most certain first',
  options: {
    run: text('RUN', 'Only matches that this run scored last'),
    state: choice('STATE', 'Only those in this state', listChoices('resolution.entity-match.list', 'state')),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve matches --run run_… --state proposed',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const input = { summary: true, run_id: params.run, state: params.state }
    const items = await listAllItems(api, 'resolution.entity-match.list', input, params.limit)
    const columns = ['uid', 'left', 'right', 'score', 'linked', 'state']
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items.map(formatMatchRow), columns, 'no matches'),
    )
    return 0
  },
})
