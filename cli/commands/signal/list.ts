// Lists signals, the latest detected first.
import { signalColumns } from '../../format/signal.ts'
import { buildSignalFilter, filterOptions } from '../../options/signal-options.ts'
import { listCommand } from '../../program/list-command.ts'

export const definition = listCommand({
  words: 'signal list',
  summary: 'List signals, the latest detected first',
  options: { ...filterOptions },
  example: 'platform signal list --status new --severity critical',
  operation: 'intelligence.signal.list',
  input: buildSignalFilter,
  columns: signalColumns,
  empty: 'No signals match',
})
