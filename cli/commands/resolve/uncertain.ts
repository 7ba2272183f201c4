// Lists open matches, ordered by the value of a decision.
import { formatMatchRow } from '../../format/match.ts'
import { listCommand } from '../../program/list-command.ts'
import { text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'resolve uncertain',
  summary: 'List open matches of the service, most valuable decision first',
  options: {
    run: text('RUN', 'Only matches that this run scored last'),
  },
  example: 'platform resolve uncertain --run run_… --limit 10',
  operation: 'resolution.entity-match.uncertain',
  input: ({ run }) => ({ run_id: run }),
  columns: ['uid', 'left', 'right', 'score', 'linked', 'state', 'worth'],
  row: formatMatchRow,
  empty: 'no uncertain matches',
})
