// Lists bulk dispositions, newest first.
import { listAllItems } from '../../../client/client.ts'
import { bulkColumns } from '../../../format/signal-bulk.ts'
import { connectService } from '../../../options/service-options.ts'
import { listOptions } from '../../../options/signal-options.ts'
import { command } from '../../../program/command.ts'
import { choice } from '../../../program/params.ts'
import { formatTable, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal bulk list',
  summary: 'List bulk dispositions, newest first',
  options: {
    state: choice('STATE', 'Only bulk dispositions in this state', ['running', 'cancelling', 'finished', 'cancelled']),
    ...listOptions,
  },
  example: 'platform signal bulk list --state running',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'intelligence.bulk.list', { state: params.state }, params.limit)
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, bulkColumns, 'No bulk dispositions match'),
    )
    return 0
  },
})
