// Lists clusters of the service, the largest first.
import type { ApiObject } from '../../client/client.ts'
import { listCommand } from '../../program/list-command.ts'
import { text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'resolve clusters',
  summary: 'List clusters of the service, the largest first',
  options: {
    run: text('RUN', 'Only clusters that this run found last'),
  },
  example: 'platform resolve clusters --run run_… --json',
  operation: 'resolution.entity-cluster.list',
  input: ({ run }) => ({ run_id: run }),
  columns: ['uid', 'size', { heading: 'members', cell: formatMembers }, 'entity_type', 'run_id'],
  empty: 'no clusters match',
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
