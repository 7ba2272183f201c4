// Lists matches of the service, the most certain first.
import { listed } from '../../client/client.ts'
import { choicesOf } from '../../client/operations.ts'
import { command } from '../../command.ts'
import { matchRow } from '../../match-text.ts'
import { show, table } from '../../output.ts'
import { choice, otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve matches',
  summary: 'list matches of the service, the most certain first',
  options: {
    run: text('RUN', 'only those that this run scored last'),
    state: choice('STATE', 'only those in this state', choicesOf('resolution.entity-match.list', 'state')),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve matches --run run_… --state proposed',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const input = { summary: true, run_id: given.run, state: given.state }
    const items = await listed(api, 'resolution.entity-match.list', input, given.limit)
    const columns = ['uid', 'left', 'right', 'score', 'linked', 'state']
    show(terminal, given.json, { items }, () =>
      table(terminal, items.map(matchRow), columns, 'there are no such matches'),
    )
    return 0
  },
})
