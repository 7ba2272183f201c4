// Lists signals, the latest detected first.
import { listAllItems } from '../../client/client.ts'
import { signalColumns } from '../../format/signal.ts'
import { connectService } from '../../options/service-options.ts'
import { buildSignalFilter, filterOptions, listOptions } from '../../options/signal-options.ts'
import { command } from '../../program/command.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'signal list',
  summary: 'List signals, the latest detected first',
  options: { ...filterOptions, ...listOptions },
  example: 'platform signal list --status new --severity critical',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'intelligence.signal.list', buildSignalFilter(params), params.limit)
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, signalColumns, 'No signals match'))
    return 0
  },
})
