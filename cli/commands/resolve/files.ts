// Lists the files of records that were taken from folders, newest first.
import { listChoices } from '../../client/operations.ts'
import { listCommand } from '../../program/list-command.ts'
import { choice, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'resolve files',
  summary: 'List files of records that were taken from folders, newest first',
  options: {
    folder: text('NAME', 'Only those of this folder'),
    state: choice('STATE', 'Only those in this state', await listChoices('resolution.arrival-file.list', 'state')),
  },
  example: 'platform resolve files --state failed',
  operation: 'resolution.arrival-file.list',
  input: ({ folder, state }) => ({ folder, state }),
  columns: ['folder', 'file', 'state', 'next_row', 'refused', 'created_at'],
  empty: 'no files match',
})
