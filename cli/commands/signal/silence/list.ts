// Lists silences, newest first, ended ones included.
import { listAllItems } from '../../../client/client.ts'
import { silenceColumns } from '../../../format/silence.ts'
import { connectService } from '../../../options/service-options.ts'
import { listOptions } from '../../../options/signal-options.ts'
import { command } from '../../../program/command.ts'
import { choice } from '../../../program/params.ts'
import { formatTable, printResult } from '../../../terminal/output.ts'

export const definition = command({
  words: 'signal silence list',
  summary: 'List silences, newest first',
  options: { state: choice('STATE', 'Only silences in this state', ['pending', 'active', 'ended']), ...listOptions },
  example: 'platform signal silence list --state active',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'intelligence.silence.list', { state: params.state }, params.limit)
    printResult(terminal, params.json, { items }, () =>
      formatTable(terminal, items, silenceColumns, 'No silences match'),
    )
    return 0
  },
})
