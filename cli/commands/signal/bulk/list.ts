// Lists bulk dispositions, newest first.
import { bulkColumns } from '../../../format/signal-bulk.ts'
import { listCommand } from '../../../program/list-command.ts'
import { choice } from '../../../program/params.ts'

export const definition = listCommand({
  words: 'signal bulk list',
  summary: 'List bulk dispositions, newest first',
  options: {
    state: choice('STATE', 'Only bulk dispositions in this state', ['running', 'cancelling', 'finished', 'cancelled']),
  },
  example: 'platform signal bulk list --state running',
  operation: 'intelligence.bulk.list',
  input: ({ state }) => ({ state }),
  columns: bulkColumns,
  empty: 'No bulk dispositions match',
})
