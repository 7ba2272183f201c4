// Lists sessions, newest first.
import { listed } from '../../client/client.ts'
import { choicesOf } from '../../client/operations.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { choice, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'
import { sessionColumns } from '../../session-text.ts'

export const definition = command({
  words: 'consensus list',
  summary: 'list sessions, newest first',
  options: {
    state: choice('STATE', 'only those in this state', choicesOf('consensus.session.list', 'state')),
    lens: text('ID', 'only those of this lens'),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform consensus list --state IN_CONFLICT',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'consensus.session.list', { state: given.state, lens_id: given.lens }, given.limit)
    show(terminal, given.json, { items }, () => table(terminal, items, sessionColumns, 'there are no such sessions'))
    return 0
  },
})
