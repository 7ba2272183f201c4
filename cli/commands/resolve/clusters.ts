// Lists clusters of the service, the largest first.
import { type ApiObject, listAllItems } from '../../client/client.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { integer, text, withDefault } from '../../program/params.ts'
import { formatTable, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve clusters',
  summary: 'List clusters of the service, the largest first',
  options: {
    run: text('RUN', 'Only clusters that this run found last'),
    limit: withDefault(50, integer('COUNT', 'Maximum number of results', 1, 100_000)),
    ...serviceOptions,
  },
  example: 'platform resolve clusters --run run_… --json',
  async run(params, terminal) {
    const api = await connectService(params, terminal)
    const items = await listAllItems(api, 'resolution.entity-cluster.list', { run_id: params.run }, params.limit)
    const columns = ['uid', 'size', { heading: 'members', cell: formatMembers }, 'entity_type', 'run_id']
    printResult(terminal, params.json, { items }, () => formatTable(terminal, items, columns, 'no clusters match'))
    return 0
  },
})

const max_shown_members = 4

function formatMembers(item: ApiObject): string {
  const members = item.members as readonly { readonly node_id: string; readonly record_id: string }[]
  const labels = members.slice(0, max_shown_members).map(({ node_id, record_id }) => `${node_id}/${record_id}`)
  return [
    labels.join(', '),
    ...(members.length > max_shown_members ? [`${members.length - max_shown_members} more`] : []),
  ].join(' and ')
}
