// Lists what happened to an insight, in order.
import { listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, required, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'insight ledger',
  summary: 'list what happened to an insight, in order',
  positionals: { id: required(text('INSIGHT', 'the insight’s id')) },
  options: { limit: withDefault(500, integer('COUNT', 'at most so many', 1, 100_000)), ...serviceOptions },
  example: 'platform insight ledger ins_…',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const items = await listAllItems(api, 'intelligence.ledger.list', { uid: given.id }, given.limit)
    const columns = ['seq', 'at', 'type', 'by', 'signal_id', 'edition_id', 'from', 'to', 'rationale']
    printResult(terminal, given.json, { items }, () =>
      formatTable(terminal, items, columns, 'nothing has happened yet'),
    )
    return 0
  },
})
