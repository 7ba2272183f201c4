// Lists clusters of the service, the largest first.
import { listed } from '../../client/client.ts'
import { command } from '../../command.ts'
import { show, table } from '../../output.ts'
import { otherwise, text, whole } from '../../params.ts'
import { service, serviceOptions } from '../../service.ts'

export const definition = command({
  words: 'resolve clusters',
  summary: 'list clusters of the service, the largest first',
  options: {
    run: text('RUN', 'only those that this run found last'),
    limit: otherwise(50, whole('COUNT', 'at most so many', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve clusters --run run_… --json',
  async run(given, terminal) {
    const api = await service(given, terminal)
    const items = await listed(api, 'resolution.entity-cluster.list', { run_id: given.run }, given.limit)
    const columns = ['uid', 'size', 'entity_type', 'run_id']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'there are no such clusters'))
    return 0
  },
})
