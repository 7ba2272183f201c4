// Lists the matches that are worth a person's minute, those first that a decision is worth most for.
import { listAllItems } from '../../client/client.ts'
import { formatMatchRow } from '../../format/match.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve uncertain',
  summary: 'list open matches of the service, those first that a decision is worth most for',
  options: {
    run: text('RUN', 'only those that this run scored last'),
    limit: withDefault(50, integer('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve uncertain --run run_… --limit 10',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const items = await listAllItems(api, 'resolution.entity-match.uncertain', { run_id: given.run }, given.limit)
    const columns = ['uid', 'left', 'right', 'score', 'linked', 'state', 'worth']
    printResult(terminal, given.json, { items }, () =>
      formatTable(terminal, items.map(formatMatchRow), columns, 'no match is in doubt'),
    )
    return 0
  },
})
