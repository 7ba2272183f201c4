// Lists clusters of the service, the largest first.
import { type Answered, listed } from '../../client/client.ts'
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
    const columns = ['uid', 'size', { heading: 'members', cell: membersOf }, 'entity_type', 'run_id']
    show(terminal, given.json, { items }, () => table(terminal, items, columns, 'there are no such clusters'))
    return 0
  },
})

const most_shown = 4

function membersOf(item: Answered): string {
  const members = item.members as readonly { readonly node_id: string; readonly record_id: string }[]
  const shown = members.slice(0, most_shown).map(({ node_id, record_id }) => `${node_id}/${record_id}`)
  return [shown.join(', '), ...(members.length > most_shown ? [`${members.length - most_shown} more`] : [])].join(
    ' and ',
  )
}
