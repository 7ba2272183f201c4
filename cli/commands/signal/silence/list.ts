// Lists silences, newest first; past ones stay.
import { listAllItems } from '../../../client/client.ts'
import { silenceColumns } from '../../../format/silence.ts'
import { connectService } from '../../../options/service-options.ts'
import { listOptions } from '../../../options/signal-options.ts'
import { command } from '../../../program/command.ts'
import { choice } from '../../../program/params.ts'
import { formatTable, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal silence list',
  summary: 'list silences, newest first',
  options: { state: choice('STATE', 'only those in this state', ['pending', 'active', 'ended']), ...listOptions },
  example: 'platform signal silence list --state active',
  async run(given, terminal) {
    const api = await connectService(given, terminal)
    const items = await listAllItems(api, 'intelligence.silence.list', { state: given.state }, given.limit)
    printResult(terminal, given.json, { items }, () =>
      formatTable(terminal, items, silenceColumns, 'there are no such silences'),
    )
    return 0
  },
})
