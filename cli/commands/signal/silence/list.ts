// Lists silences, newest first; past ones stay.
import { listed } from '../../../client/client.ts'
import { command } from '../../../command.ts'
import { show, table } from '../../../output.ts'
import { choice } from '../../../params.ts'
import { service } from '../../../service.ts'
import { listOptions } from '../../../signal-options.ts'
import { silenceColumns } from '../../../silence-text.ts'

export const definition = command({
  words: 'signal silence list',
  summary: 'list silences, newest first',
  options: { state: choice('STATE', 'only those in this state', ['pending', 'active', 'ended']), ...listOptions },
  example: 'platform signal silence list --state active',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'intelligence.silence.list', { state: given.state }, given.limit)
    show(terminal, given.json, { items }, () => table(terminal, items, silenceColumns, 'there are no such silences'))
    return 0
  },
})
