// Lists insights, newest first.
import { insightColumns } from '../../format/signal.ts'
import { listCommand } from '../../program/list-command.ts'
import { choice } from '../../program/params.ts'

export const definition = listCommand({
  words: 'insight list',
  summary: 'List insights, newest first',
  options: {
    state: choice('STATE', 'Only insights in this state', ['open', 'investigating', 'closed']),
  },
  example: 'platform insight list --state investigating',
  operation: 'intelligence.insight.list',
  input: ({ state }) => ({ state }),
  columns: insightColumns,
  empty: 'No insights match',
})
