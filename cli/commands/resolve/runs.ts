// Lists runs of the service, newest first.
import { listed } from '../../client/client.ts'
import { choicesOf } from '../../client/operations.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { choice, otherwise, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve runs',
  summary: 'list runs of the service, newest first',
  options: {
    state: choice('STATE', 'only those in this state', choicesOf('resolution.fusion-run.list', 'state')),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve runs --state failed',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const input = { summary: true, state: given.state }
    const items = await listed(api, 'resolution.fusion-run.list', input, given.limit)
    const columns = ['uid', 'state', 'lens', 'lens_version', 'created_at']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'there are no such runs'))
    return 0
  },
})
