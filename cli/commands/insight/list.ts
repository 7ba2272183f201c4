// Lists insights, newest first.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { choice } from '../../params.ts'
import { service } from '../../service.ts'
import { listOptions } from '../../signal-options.ts'
import { insightColumns } from '../../signal-text.ts'

export const definition = command({
  words: 'insight list',
  summary: 'list insights, newest first',
  options: {
    state: choice('STATE', 'only those in this state', ['open', 'investigating', 'closed']),
    ...listOptions,
  },
  example: 'platform insight list --state investigating',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'intelligence.insight.list', { state: given.state }, given.limit)
    show(terminal, given.json, { items }, () => table(terminal, items, insightColumns, 'there are no such insights'))
    return 0
  },
})
