// Lists silences, newest first, ended ones included.
import { silenceColumns } from '../../../format/silence.ts'
import { listCommand } from '../../../program/list-command.ts'
import { choice } from '../../../program/params.ts'

export const definition = listCommand({
  words: 'signal silence list',
  summary: 'List silences, newest first',
  options: { state: choice('STATE', 'Only silences in this state', ['pending', 'active', 'ended']) },
  example: 'platform signal silence list --state active',
  operation: 'intelligence.silence.list',
  input: ({ state }) => ({ state }),
  columns: silenceColumns,
  empty: 'No silences match',
})
