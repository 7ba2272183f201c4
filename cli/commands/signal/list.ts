// Lists signals, the latest detected first.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { service } from '../../service.ts'
import { filterOf, filterOptions, listOptions } from '../../signal-options.ts'
import { signalColumns } from '../../signal-text.ts'

export const definition = command({
  words: 'signal list',
  summary: 'list signals, the latest detected first',
  options: { ...filterOptions, ...listOptions },
  example: 'platform signal list --status new --severity critical',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'intelligence.signal.list', filterOf(given), given.limit)
    show(terminal, given.json, { items }, () => table(terminal, items, signalColumns, 'there are no such signals'))
    return 0
  },
})
