// Lists the ledger of an insight: its events, in order.
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'insight ledger',
  summary: 'List the events of an insight in order',
  positionals: { id: required(text('INSIGHT', 'ID of the insight')) },
  options: { limit: withDefault(500, integer('COUNT', 'Maximum number of events', 1, 100_000)), ...serviceOptions },
  example: 'platform insight ledger ins_…',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'intelligence.ledger.list', { uid: params.id }, params.limit)
    const columns = ['seq', 'at', 'type', 'by', 'signal_id', 'edition_id', 'from', 'to', 'rationale']
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'No events yet'))
    return 0
  },
})
