// Lists the matches that are worth a person's minute, those first that a decision is worth most for.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { matchRow } from '../../match-text.ts'
import { show, table } from '../../output.ts'
import { otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve uncertain',
  summary: 'list open matches of the service, those first that a decision is worth most for',
  options: {
    run: text('RUN', 'only those that this run scored last'),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve uncertain --run run_… --limit 10',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'resolution.entity-match.uncertain', { run_id: given.run }, given.limit)
    const columns = ['uid', 'left', 'right', 'score', 'linked', 'state', 'worth']
    show(terminal, given.json, { items }, () => table(terminal, items.map(matchRow), columns, 'no match is in doubt'))
    return 0
  },
})
