// Lists exchanges with peers, newest first.
import { listChoices } from '../../../client/operations.ts'
import { exchangeColumns } from '../../../format/exchange.ts'
import { listCommand } from '../../../program/list-command.ts'
import { choice } from '../../../program/params.ts'

export const definition = listCommand({
  words: 'resolve exchange list',
  summary: 'List exchanges with peers, newest first',
  options: {
    state: choice(
      'STATE',
      'Only exchanges in this state; `proposed` waits for an answer',
      await listChoices('resolution.exchange.list', 'state'),
    ),
  },
  example: 'platform resolve exchange list --state proposed',
  operation: 'resolution.exchange.list',
  input: ({ state }) => ({ state }),
  columns: exchangeColumns,
  empty: 'no exchanges match',
})
