// Lists matches of the service, the most certain first.
import { listChoices } from '../../client/operations.ts'
import { formatMatchRow } from '../../format/match.ts'
import { listCommand } from '../../program/list-command.ts'
import { choice, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'resolve matches',
  summary: 'List matches of the service, the most certain first',
  options: {
    run: text('RUN', 'Only matches that this run scored last'),
    state: choice('STATE', 'Only those in this state', await listChoices('resolution.entity-match.list', 'state')),
  },
  example: 'platform resolve matches --run run_… --state proposed',
  operation: 'resolution.entity-match.list',
  input: ({ run, state }) => ({ summary: true, run_id: run, state }),
  columns: ['uid', 'left', 'right', 'score', 'linked', 'state'],
  row: formatMatchRow,
  empty: 'no matches',
})
