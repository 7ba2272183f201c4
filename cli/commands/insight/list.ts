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
  summary: 'List insights, newest first',
  options: {
    state: choice('STATE', 'Only insights in this state', ['open', 'investigating', 'closed']),
    ...listOptions,
  },
  example: 'platform insight list --state investigating',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'intelligence.insight.list', { state: params.state }, params.limit)
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, insightColumns, 'No insights match'),
    )
    return 0
  },
})
