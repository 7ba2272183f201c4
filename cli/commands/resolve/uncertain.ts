// Lists open matches, ordered by the value of a decision.
import { listAllItems } from '../../client/client.ts'
import { formatMatchRow } from '../../format/match.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve uncertain',
  summary: 'List open matches of the service, most valuable decision first',
  options: {
    run: text('RUN', 'Only matches that this run scored last'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve uncertain --run run_… --limit 10',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'resolution.entity-match.uncertain', { run_id: params.run }, params.limit)
    const columns = ['uid', 'left', 'right', 'score', 'linked', 'state', 'worth']
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items.map(formatMatchRow), columns, 'no uncertain matches'),
    )
    return 0
  },
})
