// Lists insights, newest first.
import { listAllItems } from '../../client/client.ts'
import { insightColumns } from '../../format/signal.ts'
import { connectService } from '../../options/service-options.ts'
import { listOptions } from '../../options/signal-options.ts'
import { command } from '../../program/command.ts'
import { choice } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'insight list',
  summary: 'list insights, newest first',
  options: {
    state: choice('STATE', 'only those in this state', ['open', 'investigating', 'closed']),
    ...listOptions,
  },
  example: 'platform insight list --state investigating',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const items = await listAllItems(api, 'intelligence.insight.list', { state: given.state }, given.limit)
    printResult(terminal, given.json, { items }, () =>
      formatTable(terminal, items, insightColumns, 'there are no such insights'),
    )
    return 0
  },
})
