// Lists signals, the latest detected first.
import { listAllItems } from '../../client/client.ts'
import { signalColumns } from '../../format/signal.ts'
import { connectService } from '../../options/service-options.ts'
import { buildSignalFilter, filterOptions, listOptions } from '../../options/signal-options.ts'
import { command } from '../../program/command.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal list',
  summary: 'list signals, the latest detected first',
  options: { ...filterOptions, ...listOptions },
  example: 'platform signal list --status new --severity critical',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const items = await listAllItems(api, 'intelligence.signal.list', buildSignalFilter(given), given.limit)
    printResult(terminal, given.json, { items }, () =>
      formatTable(terminal, items, signalColumns, 'there are no such signals'),
    )
    return 0
  },
})
