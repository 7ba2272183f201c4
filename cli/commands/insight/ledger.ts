// Lists what happened to an insight, in order.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { needed, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'insight ledger',
  summary: 'list what happened to an insight, in order',
  takes: { id: needed(text('INSIGHT', 'the insight’s id')) },
  options: { limit: otherwise(500, whole('COUNT', 'at most so many', 1, 100_000)), ...serviceOptions },
  example: 'platform insight ledger ins_…',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'intelligence.ledger.list', { uid: given.id }, given.limit)
    const columns = ['seq', 'at', 'type', 'by', 'signal_id', 'edition_id', 'from', 'to', 'rationale']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'nothing has happened yet'))
    return 0
  },
})
