// Lists bulk dispositions, newest first.
import { listed } from '../../../client/client.ts'
import { command } from '../../../command.ts'
import { show, table } from '../../../output.ts'
import { choice } from '../../../params.ts'
import { service } from '../../../service.ts'
import { bulkColumns } from '../../../signal-bulk.ts'
import { listOptions } from '../../../signal-options.ts'

export const definition = command({
  words: 'signal bulk list',
  summary: 'list bulk dispositions, newest first',
  options: {
    state: choice('STATE', 'only those in this state', ['running', 'cancelling', 'finished', 'cancelled']),
    ...listOptions,
  },
  example: 'platform signal bulk list --state running',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'intelligence.bulk.list', { state: given.state }, given.limit)
    show(terminal, given.json, { items }, () => table(terminal, items, bulkColumns, 'there are no bulk dispositions'))
    return 0
  },
})
